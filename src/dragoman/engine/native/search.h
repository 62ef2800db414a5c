// Greedy and beam search over one source (Vaswani et al., 2017, §6.1; Wu et al., 2016, Eq. 14).
#pragma once

#include <cstddef>
#include <vector>

#include "kernels.h"

namespace dragoman {

struct SearchSettings {
    int beam_size, n_best, end;
    double alpha;
    bool shortlist = false;  // whether only what is on the model's shortlist may come

    int num_candidates() const { return beam_size == 1 ? 1 : 2 * beam_size; }
    double penalty(int length) const;
};

// Room for the candidates of many rows.
class BestRows {
  public:
    void sized(size_t rows, size_t count) {
        rows_.resize(rows);
        values_.resize(rows * count);
        tokens_.resize(values_.size());
        for (size_t i = 0; i < rows_.size(); ++i) {
            rows_[i].value = values_.data() + i * count;
            rows_[i].token = tokens_.data() + i * count;
        }
    }
    Best* data() { return rows_.data(); }

  private:
    std::vector<Best> rows_;
    std::vector<float> values_;
    std::vector<int> tokens_;
};

struct Found {
    std::vector<int> tokens;    // without the end
    std::vector<float> scores;  // of each token, that of the end last
    double score;
    bool finished;
};

// A hypothesis that goes on.
struct Live {
    double score;
    int node, token, parent;  // parent: its place among the live ones of the step before
};

class Search {
  public:
    Search(const SearchSettings& settings, int start, int limit);
    const std::vector<Live>& live() const { return live_; }
    // Lengthens the live hypotheses, the best of which come in their order; true once nothing can change any more.
    bool advance(const Best* best);
    std::vector<Found> found() const;
    std::vector<int> history(const Live& live) const;  // its tokens, the start first

  private:
    struct Node {
        int parent, token;
        float score;
    };
    struct Ended {
        double score;
        int node;
    };
    struct Candidate {
        double score;
        int place, rank, token;  // of the hypothesis, and of the extension among those of its row
        float log_probability;
    };
    bool advance_greedily(const Best& best);
    bool settled() const;
    Found result(int node, double score, bool finished) const;

    const SearchSettings& settings_;
    int limit_, length_ = 0;
    std::vector<Node> nodes_;
    std::vector<Live> live_;
    std::vector<Ended> ended_;  // best first
    std::vector<Candidate> candidates_;
};

}  // namespace dragoman
