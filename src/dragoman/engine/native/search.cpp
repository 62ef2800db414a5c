#include "search.h"

#include <algorithm>
#include <cmath>

namespace dragoman {

double SearchSettings::penalty(int length) const { return std::pow((5.0 + length) / 6.0, alpha); }

Search::Search(const SearchSettings& settings, int start, int limit) : settings_(settings), limit_(limit) {
    nodes_.push_back({-1, start, 0.0f});
    live_.push_back({0.0, 0, start, 0});
}

static float log_probability(const Best& best, int place) {
    return best.value[place] - (best.most + std::log(best.sum));
}

bool Search::advance(const Best* best) {
    if (settings_.beam_size == 1) return advance_greedily(*best);
    ++length_;
    const int count = settings_.num_candidates();
    candidates_.clear();
    for (int place = 0; place < static_cast<int>(live_.size()); ++place)
        for (int i = 0; i < count && best[place].value[i] > -INFINITY; ++i) {
            const float value = log_probability(best[place], i);
            candidates_.push_back({live_[place].score + value, place, i, best[place].token[i], value});
        }
    // Of equals the extension of the better hypothesis, then the better extension, comes first.
    const size_t kept = std::min(candidates_.size(), static_cast<size_t>(count));
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end(),
                      [](const Candidate& one, const Candidate& other) {
                          if (one.score != other.score) return one.score > other.score;
                          return one.place != other.place ? one.place < other.place : one.rank < other.rank;
                      });
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end());
    const double penalty = settings_.penalty(length_);
    std::vector<Live> grown;
    for (const Candidate& one : candidates_) {
        const bool ends = one.token == settings_.end;
        if (!ends && grown.size() == static_cast<size_t>(settings_.beam_size)) continue;
        const int node = static_cast<int>(nodes_.size());
        nodes_.push_back({live_[one.place].node, one.token, one.log_probability});
        if (ends) {
            const Ended ended{one.score / penalty, node};
            const auto behind = std::upper_bound(ended_.begin(), ended_.end(), ended,
                                                 [](const Ended& a, const Ended& b) { return a.score > b.score; });
            ended_.insert(behind, ended);
            if (ended_.size() > static_cast<size_t>(settings_.beam_size)) ended_.pop_back();
        } else {
            grown.push_back({one.score, node, one.token, one.place});
        }
    }
    live_.swap(grown);
    return settled();
}

bool Search::advance_greedily(const Best& best) {
    ++length_;
    if (best.value[0] == -INFINITY) {
        live_.clear();
        return true;
    }
    Live& live = live_.front();
    const float value = log_probability(best, 0);
    nodes_.push_back({live.node, best.token[0], value});
    live = {live.score + value, static_cast<int>(nodes_.size()) - 1, best.token[0], 0};
    if (live.token != settings_.end) return length_ >= limit_;
    ended_.push_back({live.score / settings_.penalty(length_), live.node});
    return true;
}

// A log-probability only falls, so a live hypothesis can at best keep its own, divided by the largest penalty ahead.
bool Search::settled() const {
    if (live_.empty() || limit_ <= length_) return true;
    if (ended_.size() < static_cast<size_t>(settings_.n_best)) return false;
    const double penalty = std::max(settings_.penalty(limit_), settings_.penalty(length_ + 1));
    return live_.front().score / penalty <= ended_[settings_.n_best - 1].score;
}

std::vector<Found> Search::found() const {
    std::vector<Found> results;
    for (const Ended& ended : ended_)
        if (results.size() < static_cast<size_t>(settings_.n_best)) results.push_back(result(ended.node, ended.score, true));
    if (!results.empty()) return results;
    for (const Live& live : live_)
        if (results.size() < static_cast<size_t>(settings_.n_best))
            results.push_back(result(live.node, live.score / settings_.penalty(length_), false));
    return results;
}

Found Search::result(int node, double score, bool finished) const {
    Found found{{}, {}, score, finished};
    for (int place = node; nodes_[place].parent >= 0; place = nodes_[place].parent) {
        if (place != node || !finished) found.tokens.push_back(nodes_[place].token);
        found.scores.push_back(nodes_[place].score);
    }
    std::reverse(found.tokens.begin(), found.tokens.end());
    std::reverse(found.scores.begin(), found.scores.end());
    return found;
}

std::vector<int> Search::history(const Live& live) const {
    std::vector<int> tokens;
    for (int place = live.node; place >= 0; place = nodes_[place].parent) tokens.push_back(nodes_[place].token);
    std::reverse(tokens.begin(), tokens.end());
    return tokens;
}

}  // namespace dragoman
