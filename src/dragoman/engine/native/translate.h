// Many sources at once: each worker keeps a batch filled, from which what is settled leaves and what waits enters.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "model.h"
#include "search.h"

namespace dragoman {

struct Job {
    const int* tokens;
    int length, limit;
};

struct Batch {
    int rows;           // hypotheses computed at once, at most, by one worker
    int source_tokens;  // source positions held at once, at most, by one worker; one source is always held
    int workers;        // threads
};

// Returns false once it is to stop; called often, by the calling thread alone.
using Goes = std::function<bool()>;

// The results of each job; empty where it was stopped before, or where no token was possible.
std::vector<std::vector<Found>> translate(const Model& model, const std::vector<Job>& jobs,
                                          const SearchSettings& settings, const Batch& batch,
                                          const Positions& positions, const Goes& goes);

}  // namespace dragoman
