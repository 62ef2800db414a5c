#include "session.h"

#include <stdexcept>

namespace dragoman {

Session::Session(const Model& model, const int* tokens, const int* lengths, int count, int beam_size,
                 const Positions& positions)
    : model_(model), positions_(positions), worker_(model, positions_), memories_(count) {
    std::vector<Source> sources;
    for (int i = 0; i < count; ++i) {
        if (lengths[i] > positions.count) throw std::invalid_argument("too few positions");
        sources.push_back({tokens, lengths[i], &memories_[i]});
        tokens += lengths[i];
        rows_.insert(rows_.end(), beam_size, Hypothesis{i, {}});
    }
    worker_.encode(sources);
}

void Session::step(const int* tokens, float* log_probability) {
    const int position = static_cast<int>(nodes_.size()), vocabulary = model_.settings.vocabulary;
    if (position >= positions_.count) throw std::invalid_argument("too few positions");
    for (int i = 0; i < num_rows(); ++i)  // before anything changes
        if (tokens[i] < 0 || tokens[i] >= vocabulary) throw std::invalid_argument("a token is not in the vocabulary");
    nodes_.emplace_back();
    float* node = nodes_.back().sized(rows_.size() * model_.node_size());
    std::vector<Row> rows;
    for (size_t i = 0; i < rows_.size(); ++i, node += model_.node_size()) {
        rows_[i].path.push_back(node);
        rows.push_back({&memories_[rows_[i].source], tokens[i], position, node, rows_[i].path.data()});
    }
    worker_.step(rows);
    kernels().multiply(model_.projection->matrix, worker_.output(), log_probability, NONE);
    kernels().log_softmax(log_probability, num_rows(), vocabulary);
    for (int i = 0; i < num_rows(); ++i, log_probability += vocabulary)
        for (int token = 0; token < vocabulary; ++token) log_probability[token] += model_.hidden[token];
}

void Session::reorder(const int* rows, int count) {
    std::vector<Hypothesis> chosen;
    for (int i = 0; i < count; ++i) {
        if (rows[i] < 0 || rows[i] >= num_rows()) throw std::invalid_argument("there is no such row");
        chosen.push_back(rows_[rows[i]]);
    }
    rows_.swap(chosen);
}

}  // namespace dragoman
