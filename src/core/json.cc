// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <string>

#include "gossamer/app.h"

namespace gossamer::detail {

std::string jsonString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string jsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string statisticsJson(const Statistics& s) {
  std::string json = "{\"engine\":" + jsonString(s.engine);
  const auto add = [&json](const char* name, uint64_t value) {
    json += ",\"" + std::string(name) + "\":" + std::to_string(value);
  };
  add("threads", s.threads);
  add("vertices", s.vertices);
  add("edges", s.edges);
  add("sends", s.sends);
  add("deliveries", s.deliveries);
  add("steps", s.steps);
  add("step_calls", s.stepCalls);
  add("host_messages", s.hostMessages);
  add("pull_rounds", s.pullRounds);
  add("push_rounds", s.pushRounds);
  add("small_rounds", s.smallRounds);
  json += ",\"seconds\":" + jsonNumber(s.seconds);
  json += ",\"stopped\":" + std::string(s.stopped ? "true" : "false");
  return json + "}";
}

}  // namespace gossamer::detail
