// One batch that is searched from outside, a step at a time.
#pragma once

#include <vector>

#include "model.h"

namespace dragoman {

class Session {
  public:
    // Sources lie one after the other; each has `beam_size` rows, side by side.
    Session(const Model& model, const int* tokens, const int* lengths, int count, int beam_size,
            const Positions& positions);
    // Reads one more token in each row and writes the log-probabilities of the next one, `vocabulary` a row.
    void step(const int* tokens, float* log_probability);
    // Continues with these rows of before, in this order; all rows of a source stay or leave together.
    void reorder(const int* rows, int count);
    int num_rows() const { return static_cast<int>(rows_.size()); }

  private:
    struct Hypothesis {
        int source;
        std::vector<const float*> path;  // the nodes of its tokens
    };
    const Model& model_;
    const Positions positions_;
    Worker worker_;
    std::vector<MemoryOfSource> memories_;
    std::vector<Hypothesis> rows_;
    std::vector<Buffer<float>> nodes_;  // of all rows of a position
};

}  // namespace dragoman
