// Many sources at once: each worker keeps a batch filled, from which what is settled leaves and what waits enters.
#pragma once

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

// The results of each job; empty where it was stopped before, or where no token was possible. Another thread may set
// `stop` to 1, which ends the work.
std::vector<std::vector<Found>> translate(const Model& model, const std::vector<Job>& jobs,
                                          const SearchSettings& settings, const Batch& batch,
                                          const Positions& positions, const int* stop);

}  // namespace dragoman
