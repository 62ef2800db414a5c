// What Python calls: plain C. A function that can fail returns null or not 0, and `dragoman_fault` says why.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "session.h"
#include "translate.h"

using namespace dragoman;

namespace {

thread_local std::string fault;

// Results, one after the other.
struct Results {
    std::vector<int> jobs;        // which
    std::vector<int> counts;      // of each job: hypotheses
    std::vector<int> lengths;     // of each hypothesis: tokens
    std::vector<int> num_scores;  // of each hypothesis: token scores
    std::vector<int> tokens;
    std::vector<float> token_scores;
    std::vector<double> scores;
};

Results* flattened(const std::vector<FoundJob>& found) {
    auto results = std::make_unique<Results>();
    for (const auto& [job, one] : found) {
        results->jobs.push_back(job);
        results->counts.push_back(static_cast<int>(one.size()));
        for (const Found& hypothesis : one) {
            results->lengths.push_back(static_cast<int>(hypothesis.tokens.size()));
            results->num_scores.push_back(static_cast<int>(hypothesis.scores.size()));
            results->tokens.insert(results->tokens.end(), hypothesis.tokens.begin(), hypothesis.tokens.end());
            results->token_scores.insert(results->token_scores.end(), hypothesis.scores.begin(),
                                         hypothesis.scores.end());
            results->scores.push_back(hypothesis.score);
        }
    }
    return results.release();
}

void check_sources(const Model& model, const int* tokens, const int* lengths, int count) {
    for (int i = 0; i < count; tokens += lengths[i], ++i) {
        if (lengths[i] < 1) throw std::invalid_argument("a source is empty");
        for (int k = 0; k < lengths[i]; ++k)
            if (tokens[k] < 0 || tokens[k] >= model.source_embedding->matrix.outputs)
                throw std::invalid_argument("a token is not in the vocabulary");
    }
}

template <class Function>
auto guarded(Function function, decltype(function()) otherwise) -> decltype(function()) {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        fault = "out of memory";
    } catch (const std::exception& error) {
        fault = error.what();
    }
    return otherwise;
}

}  // namespace

extern "C" {

const char* dragoman_fault() { return fault.c_str(); }

const char* dragoman_kernels() { return kernels().name; }

int dragoman_use_kernels(const char* name) { return use_kernels(name); }

void* dragoman_model(const int* numbers, float epsilon) {
    return guarded(
        [&]() -> void* {
            const Heads heads{numbers[8], numbers[9], numbers[10], numbers[11]};
            return new Model(Settings{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
                                      numbers[6], numbers[7], heads, epsilon});
        },
        nullptr);
}

void dragoman_free_model(void* model) { delete static_cast<Model*>(model); }

// Shape: kind of the weights, outputs, inputs.
int dragoman_add_matrix(void* model, const char* name, const int* shape, const void* weights, const float* scale,
                        const float* bias) {
    return guarded(
        [&] {
            const auto kind = static_cast<PackedMatrix::Kind>(shape[0]);
            if (kind == PackedMatrix::HALVES && kernels().halve == nullptr)
                throw std::invalid_argument("this processor has no instructions for bfloat16");
            static_cast<Model*>(model)->add_matrix(
                name, std::make_unique<PackedMatrix>(kind, weights, scale, bias, shape[1], shape[2]));
            return 0;
        },
        1);
}

int dragoman_add_vector(void* model, const char* name, const float* values, int count) {
    return guarded(
        [&] {
            static_cast<Model*>(model)->add_vector(name, values, count);
            return 0;
        },
        1);
}

// Starts: one more than source tokens. Counts: of the targets, and of those that always may come.
int dragoman_add_shortlist(void* model, const int* starts, const int* targets, const int* always, const int* counts) {
    return guarded(
        [&] {
            Model& known = *static_cast<Model*>(model);
            const int* last = starts + known.settings.source_vocabulary + 1;
            known.add_shortlist({{starts, last}, {targets, targets + counts[0]}, {always, always + counts[1]}});
            return 0;
        },
        1);
}

int dragoman_connect(void* model) {
    return guarded(
        [&] {
            static_cast<Model*>(model)->connect();
            return 0;
        },
        1);
}

void* dragoman_channel() {
    return guarded([]() -> void* { return new Channel; }, nullptr);
}

void dragoman_free_channel(void* channel) { delete static_cast<Channel*>(channel); }

void dragoman_stop(void* channel) { static_cast<Channel*>(channel)->stop(); }

// What has been found since, or null where that is nothing; waits for it at most this long.
void* dragoman_take(void* channel, int milliseconds) {
    return guarded(
        [&]() -> void* {
            const std::vector<FoundJob> found = static_cast<Channel*>(channel)->take(milliseconds);
            return found.empty() ? nullptr : flattened(found);
        },
        nullptr);
}

// Sources lie one after the other. What is found goes into the channel.
int dragoman_translate(const void* model, const int* tokens, const int* lengths, const int* limits, int count,
                       const int* search_numbers, double alpha, const int* batch_numbers, const Positions* positions,
                       void* channel) {
    Channel& to = *static_cast<Channel*>(channel);
    const int code = guarded(
        [&] {
            const Model& known = *static_cast<const Model*>(model);
            const SearchSettings settings{search_numbers[0], search_numbers[1], search_numbers[2], alpha,
                                          search_numbers[3] != 0};
            if (settings.shortlist && known.shortlist.starts.empty())
                throw std::invalid_argument("the model has no shortlist");
            std::vector<Job> jobs;
            check_sources(known, tokens, lengths, count);
            for (int i = 0; i < count; ++i) {
                if (limits[i] < 1) throw std::invalid_argument("a limit is below 1");
                if (std::max(lengths[i], limits[i]) > positions->count) throw std::invalid_argument("too few positions");
                jobs.push_back({tokens, lengths[i], limits[i]});
                tokens += lengths[i];
            }
            const Batch batch{std::max(1, batch_numbers[0]), std::max(1, batch_numbers[1]),
                              std::max(1, batch_numbers[2])};
            translate(known, jobs, settings, batch, *positions, to);
            return 0;
        },
        1);
    to.end();
    return code;
}

// Searches over a function in place of a model; it writes the log-probabilities of what follows a history.
void* dragoman_search(int (*table)(int job, const int* history, int length, float* log_probability), int vocabulary,
                      int start, const int* limits, int count, const int* search_numbers, double alpha) {
    return guarded(
        [&]() -> void* {
            const SearchSettings settings{search_numbers[0], search_numbers[1], search_numbers[2], alpha};
            std::vector<FoundJob> found;
            std::vector<float> row(vocabulary);
            for (int job = 0; job < count; ++job) {
                Search search(settings, start, limits[job]);
                for (bool over = false; !over;) {
                    BestRows best;
                    best.sized(search.live().size(), settings.num_candidates());
                    for (size_t i = 0; i < search.live().size(); ++i) {
                        const std::vector<int> history = search.history(search.live()[i]);
                        if (table(job, history.data(), static_cast<int>(history.size()), row.data()) != 0)
                            throw std::runtime_error("the function has failed");
                        best_of_row(row.data(), vocabulary, settings.num_candidates(), best.data()[i]);
                    }
                    over = search.advance(best.data());
                }
                found.emplace_back(job, search.found());
            }
            return flattened(found);
        },
        nullptr);
}

void* dragoman_session(const void* model, const int* tokens, const int* lengths, int count, int beam_size,
                       const Positions* positions) {
    return guarded(
        [&]() -> void* {
            const Model& known = *static_cast<const Model*>(model);
            check_sources(known, tokens, lengths, count);
            return new Session(known, tokens, lengths, count, beam_size, *positions);
        },
        nullptr);
}

void dragoman_free_session(void* session) { delete static_cast<Session*>(session); }

int dragoman_step(void* session, const int* tokens, float* log_probability) {
    return guarded(
        [&] {
            static_cast<Session*>(session)->step(tokens, log_probability);
            return 0;
        },
        1);
}

int dragoman_reorder(void* session, const int* rows, int count) {
    return guarded(
        [&] {
            static_cast<Session*>(session)->reorder(rows, count);
            return 0;
        },
        1);
}

void dragoman_free_results(void* results) { delete static_cast<Results*>(results); }

// Arrays of the results in the order of the struct.
void dragoman_results(const void* results, const void** arrays, int64_t* sizes) {
    const Results& r = *static_cast<const Results*>(results);
    const void* found[] = {r.jobs.data(),   r.counts.data(),       r.lengths.data(), r.num_scores.data(),
                           r.tokens.data(), r.token_scores.data(), r.scores.data()};
    const size_t counts[] = {r.jobs.size(),   r.counts.size(),       r.lengths.size(), r.num_scores.size(),
                             r.tokens.size(), r.token_scores.size(), r.scores.size()};
    for (int i = 0; i < 7; ++i) {
        arrays[i] = found[i];
        sizes[i] = static_cast<int64_t>(counts[i]);
    }
}

}  // extern "C"
