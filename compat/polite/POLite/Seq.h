// SPDX-License-Identifier: Apache-2.0
/// A list that grows.
#pragma once

#include <stdlib.h>

#include <utility>

template <class T>
class Seq {
 public:
  int maxElems;
  int numElems;
  T* elems;

  explicit Seq(int initialSize = 4)
      : maxElems(initialSize < 1 ? 1 : initialSize), numElems(0), elems(new T[maxElems]) {}
  Seq(const Seq& other) : Seq(other.maxElems) {
    for (int i = 0; i < other.numElems; ++i) append(other.elems[i]);
  }
  Seq& operator=(const Seq& other) {
    Seq copy(other);
    swap(copy);
    return *this;
  }
  ~Seq() { delete[] elems; }

  void setCapacity(int n) {
    Seq grown(n > numElems ? n : numElems);
    for (int i = 0; i < numElems; ++i) grown.append(elems[i]);
    swap(grown);
  }
  void ensureSpaceFor(int n) {
    if (numElems + n > maxElems) setCapacity((numElems + n) * 2);
  }
  void extendBy(int n) {
    ensureSpaceFor(n);
    numElems += n;
  }
  void append(T x) {
    ensureSpaceFor(1);
    elems[numElems++] = x;
  }
  void deleteLast() { --numElems; }
  T* push(T x) {
    append(x);
    return &elems[numElems - 1];
  }
  T pop() { return elems[--numElems]; }
  T& operator[](int i) { return elems[i]; }
  const T& operator[](int i) const { return elems[i]; }
  void clear() { numElems = 0; }
  bool member(T x) const {
    for (int i = 0; i < numElems; ++i) {
      if (elems[i] == x) return true;
    }
    return false;
  }
  bool insert(T x) {
    const bool is_new = !member(x);
    if (is_new) append(x);
    return is_new;
  }
  void remove(T x) {
    int kept = 0;
    for (int i = 0; i < numElems; ++i) {
      if (!(elems[i] == x)) elems[kept++] = elems[i];
    }
    numElems = kept;
  }

 private:
  void swap(Seq& other) {
    std::swap(maxElems, other.maxElems);
    std::swap(numElems, other.numElems);
    std::swap(elems, other.elems);
  }
};

template <class T>
using SmallSeq = Seq<T>;
