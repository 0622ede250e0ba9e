// SPDX-License-Identifier: Apache-2.0
/// Communicators, created and split while kernels run.
#include <algorithm>

#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

int contexts = 0;
std::unordered_map<std::uint64_t, Context*> contextsByName;

constexpr std::uint64_t worldName = 1;

/// The name of a derived communicator. Every process computes the same name; makeContext detects a collision.
std::uint64_t nameOf(std::uint64_t parent, std::uint64_t split, std::uint64_t group) {
  std::uint64_t name = parent;
  for (const std::uint64_t part : {split, group}) {
    // finalizer of splitmix64
    name += (part + 1) * 0x9E3779B97F4A7C15ull;
    name = (name ^ name >> 30) * 0xBF58476D1CE4E5B9ull;
    name = (name ^ name >> 27) * 0x94D049BB133111EBull;
    name ^= name >> 31;
  }
  return name;
}

Context* makeContext(std::vector<int> members, std::uint64_t name) {
  auto* context = new Context;
  context->number = contexts++;
  context->name = name;
  context->members = std::move(members);
  context->splits.resize(context->members.size());
  for (const int member : context->members) {
    if (isHere(member))
      ++context->here;
    else
      context->others.push_back(homeOf(member));
  }
  std::sort(context->others.begin(), context->others.end());
  context->others.erase(std::unique(context->others.begin(), context->others.end()), context->others.end());
  if (!context->here) context->others.clear();
  for (int rank = 0; rank < context->size(); ++rank) context->comms.push_back(new gs_smi_comm{context, rank});
  if (!contextsByName.emplace(name, context).second) fail(GS_EXIT_BUG, "two communicators have one name");
  communicatorMade();
  return context;
}

/// All members have contributed: creates the communicators and wakes the waiting members.
void complete(Context& context, std::uint64_t number, Split& split) {
  split.compute(context, split, nameOf(context.name, number, 0));
  split.left = context.here;
  for (Fiber* other : split.waiting) wake(other);
}

Split& splitOf(Context& context, std::uint64_t number) {
  Split& split = context.splitting[number];
  split.contributions.resize(context.members.size());
  split.made.resize(context.members.size());
  return split;
}

/// Each member contributes its arguments; the last one to arrive computes the result of all.
SMI_Comm contribute(SMI_Comm comm, Split::Contribution contribution, decltype(Split::compute) compute) {
  Context& context = *comm->context;
  const auto me = static_cast<std::size_t>(comm->rank);
  const std::uint64_t number = context.splits[me]++;
  Split& split = splitOf(context, number);
  split.compute = compute;
  for (const int other : context.others) {
    Writer out = newRecord(other, Record::splitGiven);
    out << context.name << number << comm->rank << contribution.color << contribution.key;
    out.site(contribution.site) << static_cast<std::uint32_t>(contribution.list.size());
    for (const int rank : contribution.list) out << rank;
  }
  split.contributions[me] = std::move(contribution);
  if (++split.arrived < context.size()) {
    split.waiting.push_back(current);
    wait(context, split.contributions[me].site);
  } else {
    complete(context, number, split);
  }
  SMI_Comm mine = split.made[me];
  if (--split.left == 0) context.splitting.erase(number);
  return mine;
}

void check(SMI_Comm comm, const char* call, CallSite site) {
  if (!comm) {
    fail(GS_EXIT_INPUT,
         format("rank %d: %s: the communicator is null; this rank is not in it ({})", current->rank->index, call),
         {site});
  }
}

}  // namespace

std::string Context::describe() const {
  return number ? format(" of a communicator of size %d", size()) : std::string();
}

Context* Context::named(std::uint64_t name) {
  const auto found = contextsByName.find(name);
  return found == contextsByName.end() ? nullptr : found->second;
}

Wait Context::wait(const Fiber& fiber) const {
  for (const auto& [number, split] : splitting) {
    if (std::find(split.waiting.begin(), split.waiting.end(), &fiber) == split.waiting.end()) continue;
    Wait found{"for all ranks of a communicator to split it ({})", {}};
    for (int rank = 0; rank < size(); ++rank) {
      if (!split.contributions[static_cast<std::size_t>(rank)].here) {
        found.ranks.push_back(members[static_cast<std::size_t>(rank)]);
      }
    }
    return found;
  }
  return {"for a communicator ({})", {}};
}

void makeWorld() {
  std::vector<int> all;
  for (const Rank* rank : ranks) all.push_back(rank->index);
  Context* world = makeContext(std::move(all), worldName);
  for (Rank* rank : ranks) rank->world = world->comms[static_cast<std::size_t>(rank->index)];
}

bool applySplitRecord(Reader& in) {
  Context* context = Context::named(in.get<std::uint64_t>());
  const auto number = in.get<std::uint64_t>();
  const auto rank = static_cast<std::size_t>(in.get<int>());
  Split::Contribution contribution{in.get<int>(), 0, true, nullptr, {}};
  contribution.key = in.get<int>();
  contribution.site = in.site();
  contribution.list.resize(in.get<std::uint32_t>());
  for (int& one : contribution.list) one = in.get<int>();
  if (!context) return false;
  Split& split = splitOf(*context, number);
  split.contributions[rank] = std::move(contribution);
  if (++split.arrived == context->size()) complete(*context, number, split);
  return true;
}

}  // namespace gossamer::smi

using namespace gossamer::smi;

extern "C" {

SMI_Comm SMI_Comm_world(void) { return caller("SMI_COMM_WORLD", __builtin_return_address(0)).rank->world; }

int SMI_Comm_rank(SMI_Comm comm) {
  check(comm, __func__, __builtin_return_address(0));
  return comm->rank;
}

int SMI_Comm_size(SMI_Comm comm) {
  check(comm, __func__, __builtin_return_address(0));
  return comm->context->size();
}

SMI_Comm SMI_Comm_split(SMI_Comm comm, int color, int key) {
  const CallSite site = __builtin_return_address(0);
  check(comm, __func__, site);
  if (color < 0 && color != SMI_UNDEFINED) {
    fail(GS_EXIT_INPUT,
         format("rank %d: SMI_Comm_split: the color is %d; it must be at least 0, or SMI_UNDEFINED ({})",
                current->rank->index, color),
         {site});
  }
  return contribute(comm, {color, key, true, site, {}}, [](const Context& context, Split& split, std::uint64_t name) {
    std::map<int, std::vector<int>> groups;
    for (int rank = 0; rank < context.size(); ++rank) {
      const Split::Contribution& contribution = split.contributions[static_cast<std::size_t>(rank)];
      if (!contribution.list.empty()) {
        fail(GS_EXIT_INPUT, "some ranks call SMI_Comm_split ({}), others SMI_Comm_create ({}); all must call the same",
             {split.contributions[static_cast<std::size_t>(context.size() - 1)].site, contribution.site});
      }
      if (contribution.color != SMI_UNDEFINED) groups[contribution.color].push_back(rank);
    }
    for (auto& [color_, group] : groups) {
      std::stable_sort(group.begin(), group.end(), [&](int a, int b) {
        return split.contributions[static_cast<std::size_t>(a)].key <
               split.contributions[static_cast<std::size_t>(b)].key;
      });
      std::vector<int> members;
      for (const int rank : group) members.push_back(context.members[static_cast<std::size_t>(rank)]);
      const Context* made = makeContext(std::move(members), nameOf(name, 0, static_cast<std::uint64_t>(color_)));
      for (std::size_t at = 0; at < group.size(); ++at) {
        split.made[static_cast<std::size_t>(group[at])] = made->comms[at];
      }
    }
  });
}

SMI_Comm SMI_Comm_create(SMI_Comm comm, int count, const int* list) {
  const CallSite site = __builtin_return_address(0);
  check(comm, __func__, site);
  if (count < 1) {
    fail(GS_EXIT_INPUT,
         format("rank %d: SMI_Comm_create: the count is %d; it must be at least 1 ({})", current->rank->index, count),
         {site});
  }
  std::vector<int> ranksOf(list, list + count);
  for (std::size_t at = 0; at < ranksOf.size(); ++at) {
    const int rank = ranksOf[at];
    if (rank >= 0 && rank < comm->context->size() &&
        std::find(ranksOf.begin(), ranksOf.begin() + static_cast<std::ptrdiff_t>(at), rank) ==
            ranksOf.begin() + static_cast<std::ptrdiff_t>(at)) {
      continue;
    }
    fail(GS_EXIT_INPUT,
         format("rank %d: SMI_Comm_create: rank %d in the list is %s ({})", current->rank->index, rank,
                rank < 0 || rank >= comm->context->size() ? "not in the communicator" : "listed twice"),
         {site});
  }
  return contribute(comm, {0, 0, true, site, std::move(ranksOf)},
                    [](const Context& context, Split& split, std::uint64_t name) {
                      const Split::Contribution& first = split.contributions[0];
                      for (int rank = 1; rank < context.size(); ++rank) {
                        const Split::Contribution& contribution = split.contributions[static_cast<std::size_t>(rank)];
                        if (contribution.list == first.list) continue;
                        fail(GS_EXIT_INPUT,
                             format("SMI_Comm_create: rank %d passes a different list ({}) than rank %d ({})",
                                    context.members[static_cast<std::size_t>(rank)], context.members[0]),
                             {contribution.site, first.site});
                      }
                      std::vector<int> members;
                      for (const int rank : first.list)
                        members.push_back(context.members[static_cast<std::size_t>(rank)]);
                      const Context* made = makeContext(std::move(members), name);
                      for (std::size_t at = 0; at < first.list.size(); ++at) {
                        split.made[static_cast<std::size_t>(first.list[at])] = made->comms[at];
                      }
                    });
}

void SMI_Comm_free(SMI_Comm* comm) { *comm = nullptr; }

SMI_Kernel SMI_Start_kernel(const char* name, void (*kernel)(void*), void* argument) {
  Rank& rank = *caller(__func__, __builtin_return_address(0)).rank;
  return new gs_smi_kernel{start(rank, name, kernel, argument, false)};
}

SMI_Kernel gs_smi_start_daemon(const char* name, void (*kernel)(void*), void* argument) {
  Rank& rank = *caller(__func__, __builtin_return_address(0)).rank;
  return new gs_smi_kernel{start(rank, name, kernel, argument, true)};
}

void gs_smi_settle(void) {
  const CallSite site = __builtin_return_address(0);
  caller(__func__, site);
  settle(site);
}

void SMI_Wait_kernel(SMI_Kernel kernel) {
  struct Ended : Waitable {
    Fiber* other = nullptr;
    Wait wait(const Fiber& fiber) const override {
      return {format("for its kernel %s ({})", other->name.c_str()), cause(fiber)};
    }
    std::string label(WaitKind) const override { return "end of kernel " + other->name; }
    /// The ranks that the last kernel of the chain of joins waits for: they also block this kernel.
    std::vector<int> cause(const Fiber& fiber) const {
      const Fiber* last = other;
      for (std::size_t hops = 0; last->joins && hops < fibers.size(); ++hops) last = last->joins;
      if (last->joins || !last->waits) return {fiber.rank->index};
      return last->waits->wait(*last).ranks;
    }
  } ended;
  ended.other = kernel->fiber;
  if (ended.other->joiner) {
    fail(GS_EXIT_INPUT,
         format("rank %d: two kernels wait for kernel %s ({})", current->rank->index, ended.other->name.c_str()),
         {__builtin_return_address(0)});
  }
  while (!ended.other->done) {
    ended.other->joiner = current;
    current->joins = ended.other;
    wait(ended, __builtin_return_address(0));
    current->joins = nullptr;
  }
}

}  // extern "C"
