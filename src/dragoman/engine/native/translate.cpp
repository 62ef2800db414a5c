#include "translate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <system_error>
#include <thread>

namespace dragoman {
namespace {

constexpr int BLOCK = 8;  // positions for which a source takes memory at once

// Memory for nodes, given back and taken again.
class Pool {
  public:
    explicit Pool(size_t size) : size_(size) {}
    float* take() {
        if (free_.empty()) {
            all_.push_back(std::make_unique<Buffer<float>>());
            return all_.back()->sized(size_);
        }
        float* block = free_.back();
        free_.pop_back();
        return block;
    }
    void give(std::vector<float*>& blocks) {
        free_.insert(free_.end(), blocks.begin(), blocks.end());
        blocks.clear();
    }

  private:
    size_t size_;
    std::vector<std::unique_ptr<Buffer<float>>> all_;
    std::vector<float*> free_;
};

// What may come of a source, and the weights for it.
struct Candidates {
    Candidates(const Model& model, const int* source, int length)
        : tokens(model.candidates(source, length)), matrix(*model.projection, tokens),
          hidden(static_cast<size_t>(matrix.matrix.panels) * PANEL) {
        for (size_t i = 0; i < tokens.size(); ++i) hidden[i] = model.hidden[tokens[i]];
    }
    // The best of some rows, as ids of the vocabulary.
    void best(const Rows& rows, int count, Best* found) const {
        kernels().best(matrix.matrix, rows, hidden.data(), count, found);
        for (int row = 0; row < rows.count; ++row)
            for (int i = 0; i < count && found[row].value[i] > -INFINITY; ++i)
                found[row].token[i] = tokens[found[row].token[i]];
    }
    std::vector<int> tokens;
    PackedMatrix matrix;
    std::vector<float> hidden;
};

// A source that is being translated.
struct Active {
    Active(int job, const SearchSettings& settings, int start, int limit) : job(job), search(settings, start, limit) {}
    int job;
    Search search;
    MemoryOfSource memory;
    std::unique_ptr<Candidates> candidates;  // where there is a shortlist
    std::vector<float*> blocks;
    std::vector<std::vector<const float*>> paths;  // of the live hypotheses, the nodes of their tokens
};

class Run {
  public:
    Run(const Model& model, const std::vector<Job>& jobs, const SearchSettings& settings, const Batch& batch,
        const Positions& positions, Channel& channel)
        : model_(model), jobs_(jobs), settings_(settings), batch_(batch), positions_(positions), channel_(channel) {}

    // One worker's part, until nothing waits.
    void work() {
        Worker worker(model_, positions_);
        Pool pool(static_cast<size_t>(BLOCK) * settings_.beam_size * model_.node_size());
        std::vector<std::unique_ptr<Active>> active;
        std::vector<Row> rows;
        BestRows best;
        while (!failed_ && !channel_.stopped()) {
            refill(worker, active);
            if (active.empty()) return;
            rows.clear();
            for (auto& one : active) add_rows(*one, pool, rows);
            worker.step(rows);
            best.sized(rows.size(), settings_.num_candidates());
            find_best(worker.output(), active, best.data());
            advance(active, best.data(), pool);
        }
    }

    void fail() { failed_ = true; }  // the others need not go on

  private:
    // Takes waiting sources in, unless there is room for a few only.
    void refill(Worker& worker, std::vector<std::unique_ptr<Active>>& active) {
        const int room = std::max(1, batch_.rows / settings_.beam_size);
        if (!active.empty() && room - static_cast<int>(active.size()) < std::max(1, room / 4)) return;
        int tokens = 0;
        for (const auto& one : active) tokens += one->memory.length;
        std::vector<Source> entering;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            // What is left is shared out, so that no worker is idle while another has a full batch.
            const int waiting = static_cast<int>(jobs_.size()) - next_;
            const int share = std::max(1, (waiting + batch_.workers - 1) / batch_.workers);
            while (next_ < static_cast<int>(jobs_.size()) && static_cast<int>(active.size()) < room &&
                   static_cast<int>(entering.size()) < share) {
                const Job& job = jobs_[next_];
                if (!active.empty() && tokens + job.length > batch_.source_tokens) break;
                tokens += job.length;
                active.push_back(std::make_unique<Active>(next_, settings_, model_.settings.vocabulary - 1, job.limit));
                active.back()->paths.emplace_back();
                entering.push_back({job.tokens, job.length, &active.back()->memory});
                ++next_;
            }
        }
        if (entering.empty()) return;
        worker.encode(entering);
        for (auto& one : active)
            if (settings_.shortlist && one->candidates == nullptr)
                one->candidates = std::make_unique<Candidates>(model_, jobs_[one->job].tokens, jobs_[one->job].length);
    }

    void add_rows(Active& one, Pool& pool, std::vector<Row>& rows) {
        const int position = static_cast<int>(one.paths.front().size());
        if (position % BLOCK == 0) one.blocks.push_back(pool.take());
        float* first = one.blocks[position / BLOCK] +
                       static_cast<size_t>(position % BLOCK) * settings_.beam_size * model_.node_size();
        const std::vector<Live>& live = one.search.live();
        for (size_t i = 0; i < live.size(); ++i) {
            float* node = first + i * model_.node_size();
            one.paths[i].push_back(node);
            rows.push_back({&one.memory, live[i].token, position, node, one.paths[i].data()});
        }
    }

    void find_best(const Rows& rows, const std::vector<std::unique_ptr<Active>>& active, Best* best) const {
        const int count = settings_.num_candidates();
        if (!settings_.shortlist) {
            kernels().best(model_.projection->matrix, rows, model_.hidden, count, best);
            return;
        }
        int first = 0;
        for (const auto& one : active) {
            const int own = static_cast<int>(one->search.live().size());
            one->candidates->best(rows.part(first, own, model_.settings.d_model), count, best + first);
            first += own;
        }
    }

    void advance(std::vector<std::unique_ptr<Active>>& active, const Best* next, Pool& pool) {
        size_t kept = 0;
        for (auto& one : active) {
            const Best* mine = next;
            next += one->search.live().size();
            if (one->search.advance(mine)) {
                channel_.put({one->job, one->search.found()});
                pool.give(one->blocks);
                continue;
            }
            std::vector<std::vector<const float*>> paths;
            for (const Live& live : one->search.live()) paths.push_back(one->paths[live.parent]);
            one->paths.swap(paths);
            if (&active[kept] != &one) active[kept] = std::move(one);
            ++kept;
        }
        active.resize(kept);
    }

    const Model& model_;
    const std::vector<Job>& jobs_;
    const SearchSettings& settings_;
    const Batch& batch_;
    const Positions& positions_;
    Channel& channel_;
    int next_ = 0;
    std::mutex mutex_;
    std::atomic<bool> failed_{false};
};

}  // namespace

void Channel::put(FoundJob found) {
    const std::lock_guard<std::mutex> lock(mutex_);
    found_.push_back(std::move(found));
    came_.notify_one();
}

void Channel::end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
    came_.notify_one();
}

std::vector<FoundJob> Channel::take(int milliseconds) {
    std::unique_lock<std::mutex> lock(mutex_);
    came_.wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return over_ || !found_.empty(); });
    std::vector<FoundJob> taken;
    taken.swap(found_);
    return taken;
}

void translate(const Model& model, const std::vector<Job>& jobs, const SearchSettings& settings, const Batch& batch,
               const Positions& positions, Channel& channel) {
    Run run(model, jobs, settings, batch, positions, channel);
    const int others = std::min(batch.workers, static_cast<int>(jobs.size())) - 1;
    std::vector<std::exception_ptr> faults(std::max(0, others) + 1);
    std::vector<std::thread> threads;
    const auto work = [&run, &faults](int worker) {
        try {
            run.work();
        } catch (...) {
            faults[worker] = std::current_exception();
            run.fail();
        }
    };
    try {
        for (int i = 1; i <= others; ++i) threads.emplace_back(work, i);
    } catch (const std::system_error&) {  // no more threads are to be had: those that are do the work
    }
    work(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& fault : faults)
        if (fault) std::rethrow_exception(fault);
}

}  // namespace dragoman
