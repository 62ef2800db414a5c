// Many sources at once: each worker keeps a batch filled, from which what is settled leaves and what waits enters.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
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

// The results of a source, and which one it was.
using FoundJob = std::pair<int, std::vector<Found>>;

// Hands results to another thread as soon as they are there, and its wish to stop to the workers.
class Channel {
  public:
    void put(FoundJob found);
    void end();   // nothing more will come
    void stop() { stopped_ = true; }  // nothing more is wanted
    bool stopped() const { return stopped_; }
    // What has come since; waits for something to come, but not longer than this, and not after the end.
    std::vector<FoundJob> take(int milliseconds);

  private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<FoundJob> found_;
    bool over_ = false;
    std::atomic<bool> stopped_{false};
};

// Puts the results of each job into the channel, in the order in which they are found; a job where no token was
// possible has none.
void translate(const Model& model, const std::vector<Job>& jobs, const SearchSettings& settings, const Batch& batch,
               const Positions& positions, Channel& channel);

}  // namespace dragoman
