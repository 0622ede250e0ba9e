// SPDX-License-Identifier: Apache-2.0
/// Attributes of communicators and datatypes.

#include "internal.h"

SMALL_CODE_BEGIN

struct Attribute {
  Attribute* next;
  int key;
  void* value;
};

typedef struct Key {
  MPI_Comm_copy_attr_function* copy;  // a datatype's has the same form: handles of both are int
  MPI_Comm_delete_attr_function* erase;
  void* extra;
  uint32_t uses;  // attributes with the key, and its handle
  bool freed;
} Key;

enum { kFirstKey = 64 };

static RANK_LOCAL Table keys;

static Key* key_of(int key) { return gsmpi_entry(&keys, (uint32_t)key - kFirstKey); }

static void release_key(int key) {
  Key* of = key_of(key);
  if (--of->uses) return;
  keys.entries[key - kFirstKey] = NULL;
  gsmpi_release(of);
}

static int copy_attributes(MPI_Comm from, const Attribute* attributes, Attribute** to) {
  if (!attributes) return MPI_SUCCESS;
  // The list has the newest first; copies are made in the order in which the attributes were set.
  const int error = copy_attributes(from, attributes->next, to);
  if (error) return error;
  Key* key = key_of(attributes->key);
  void* value = NULL;
  int flag = 0;
  if (key->copy == MPI_COMM_DUP_FN) {
    value = attributes->value;
    flag = 1;
  } else if (key->copy != MPI_COMM_NULL_COPY_FN) {
    const int failed = key->copy(from, attributes->key, key->extra, attributes->value, &value, &flag);
    if (failed) return failed;
  }
  if (!flag) return MPI_SUCCESS;
  Attribute* copy = gsmpi_allocate(sizeof *copy, "the copy of an attribute");
  *copy = (Attribute){*to, attributes->key, value};
  ++key->uses;
  *to = copy;
  return MPI_SUCCESS;
}

static int delete_attribute(int handle, Attribute** at) {
  Attribute* attribute = *at;
  const Key* key = key_of(attribute->key);
  if (key->erase != MPI_COMM_NULL_DELETE_FN) {
    const int error = key->erase(handle, attribute->key, attribute->value, key->extra);
    if (error) return error;
  }
  *at = attribute->next;
  release_key(attribute->key);
  gsmpi_release(attribute);
  return MPI_SUCCESS;
}

static int delete_attributes(int handle, Attribute** attributes) {
  while (*attributes) {
    const int error = delete_attribute(handle, attributes);
    if (error) return error;
  }
  return MPI_SUCCESS;
}

static int create_key(const char* call, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erase,
                      int* key, void* extra) {
  Key* made = gsmpi_allocate(sizeof *made, call);
  *made = (Key){copy, erase, extra, 1, false};
  const uint32_t index = gsmpi_add_entry(&keys, made, kMostHandles);
  if (!index) {
    gsmpi_release(made);
    return gsmpi_error(NULL, MPI_ERR_OTHER, call, "%u keys are in use, the maximum", (unsigned)keys.size);
  }
  *key = kFirstKey + (int)index;
  gsmpi.hooks.copy_attributes = copy_attributes;
  gsmpi.hooks.delete_attributes = delete_attributes;
  return MPI_SUCCESS;
}

static int free_key(const char* call, int* key) {
  Key* of = key_of(*key);
  if (!of || of->freed) return gsmpi_error(NULL, MPI_ERR_KEYVAL, call, "%d is not a key that can be freed", *key);
  of->freed = true;
  release_key(*key);
  *key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

static int check_key(const Comm* comm, const char* call, int key) {
  const Key* of = key_of(key);
  if (of && !of->freed) return MPI_SUCCESS;
  return gsmpi_error(comm, MPI_ERR_KEYVAL, call, "%d is not a key, or one whose attribute is fixed", key);
}

static Attribute** find(Attribute** attributes, int key) {
  while (*attributes && (*attributes)->key != key) attributes = &(*attributes)->next;
  return attributes;
}

static int set(const Comm* comm, const char* call, int handle, Attribute** attributes, int key, void* value) {
  RETURN_ON_ERROR(check_key(comm, call, key));
  Attribute** at = find(attributes, key);
  if (*at) {
    const int error = delete_attribute(handle, at);
    if (error) return gsmpi_error(comm, error, call, "the delete function of the attribute has returned %d", error);
  }
  Attribute* made = gsmpi_allocate(sizeof *made, call);
  *made = (Attribute){*attributes, key, value};
  *attributes = made;
  ++key_of(key)->uses;
  return MPI_SUCCESS;
}

static int get(const Comm* comm, const char* call, Attribute** attributes, int key, void* value, int* flag) {
  RETURN_ON_ERROR(check_key(comm, call, key));
  const Attribute* found = *find(attributes, key);
  *flag = found != NULL;
  if (found) *(void**)value = found->value;
  return MPI_SUCCESS;
}

static int erase(const Comm* comm, const char* call, int handle, Attribute** attributes, int key) {
  RETURN_ON_ERROR(check_key(comm, call, key));
  Attribute** at = find(attributes, key);
  if (!*at) return MPI_SUCCESS;
  const int error = delete_attribute(handle, at);
  return error ? gsmpi_error(comm, error, call, "the delete function of the attribute has returned %d", error) : 0;
}

// ---------------------------------------------------------------------- communicators

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erases, int* key,
                           void* extra) {
  CALLED();
  return create_key("MPI_Comm_create_keyval", copy, erases, key, extra);
}

int MPI_Comm_free_keyval(int* key) {
  CALLED();
  return free_key("MPI_Comm_free_keyval", key);
}

int MPI_Comm_set_attr(MPI_Comm handle, int key, void* value) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_set_attr");
  return comm ? set(comm, "MPI_Comm_set_attr", handle, &comm->attributes, key, value) : MPI_ERR_COMM;
}

int MPI_Comm_get_attr(MPI_Comm handle, int key, void* value, int* flag) {
  static const int most_tag = kMostTag, no_host = MPI_PROC_NULL, any = MPI_ANY_SOURCE, last_code = MPI_ERR_LASTCODE;
  static RANK_LOCAL int answer;
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_get_attr");
  if (!comm) return MPI_ERR_COMM;
  *flag = 1;
  switch (key) {
    case MPI_TAG_UB: *(const int**)value = &most_tag; break;
    case MPI_HOST: *(const int**)value = &no_host; break;
    case MPI_IO: *(const int**)value = &any; break;  // every rank can write text
    case MPI_WTIME_IS_GLOBAL:                        // on the overlay each board has its own counter
#ifdef __GOSSAMER_DEVICE__
      answer = GSMPI_SIZE <= GSMPI_PER_BOARD;
#else
      answer = 1;
#endif
      *(int**)value = &answer;
      break;
    case MPI_UNIVERSE_SIZE: *(int**)value = &gsmpi.size; break;
    case MPI_LASTUSEDCODE: *(const int**)value = &last_code; break;
    case MPI_APPNUM: {
      static const int number = 0;
      *(const int**)value = &number;
      break;
    }
    default: return get(comm, "MPI_Comm_get_attr", &comm->attributes, key, value, flag);
  }
  return MPI_SUCCESS;
}

int MPI_Comm_delete_attr(MPI_Comm handle, int key) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_delete_attr");
  return comm ? erase(comm, "MPI_Comm_delete_attr", handle, &comm->attributes, key) : MPI_ERR_COMM;
}

// ---------------------------------------------------------------------- datatypes

int MPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* erases, int* key,
                           void* extra) {
  CALLED();
  return create_key("MPI_Type_create_keyval", copy, erases, key, extra);
}

int MPI_Type_free_keyval(int* key) {
  CALLED();
  return free_key("MPI_Type_free_keyval", key);
}

/// The attributes of a type. Basic types share one list.
static Attribute** of_type(MPI_Datatype type, const char* call) {
  static RANK_LOCAL struct {
    Attribute* attributes;
    MPI_Datatype type;
  } basic[8];
  Type* derived = gsmpi_type(type);
  if (derived) return &derived->attributes;
  if (!gsmpi_known_type(type)) {
    gsmpi_error(NULL, MPI_ERR_TYPE, call, "0x%x is not a datatype", (unsigned)type);
    return NULL;
  }
  for (int i = 0; i < 8; ++i) {
    if (basic[i].type && basic[i].type != type) continue;
    basic[i].type = type;
    return &basic[i].attributes;
  }
  gsmpi_error(NULL, MPI_ERR_OTHER, call, "8 basic datatypes have attributes, the maximum");
  return NULL;
}

int MPI_Type_set_attr(MPI_Datatype type, int key, void* value) {
  CALLED();
  Attribute** attributes = of_type(type, "MPI_Type_set_attr");
  return attributes ? set(NULL, "MPI_Type_set_attr", type, attributes, key, value) : MPI_ERR_TYPE;
}

int MPI_Type_get_attr(MPI_Datatype type, int key, void* value, int* flag) {
  CALLED();
  Attribute** attributes = of_type(type, "MPI_Type_get_attr");
  return attributes ? get(NULL, "MPI_Type_get_attr", attributes, key, value, flag) : MPI_ERR_TYPE;
}

int MPI_Type_delete_attr(MPI_Datatype type, int key) {
  CALLED();
  Attribute** attributes = of_type(type, "MPI_Type_delete_attr");
  return attributes ? erase(NULL, "MPI_Type_delete_attr", type, attributes, key) : MPI_ERR_TYPE;
}

SMALL_CODE_END
