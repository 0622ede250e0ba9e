// SPDX-License-Identifier: Apache-2.0

/// Types of the match engines.
package gs_match_pkg;
  import gossamer_pkg::*;

  /// Key by which receives and messages are matched
  typedef struct packed {
    logic [9:0]  rank;
    logic [15:0] communicator;
    logic [15:0] source;
    logic [31:0] tag;
  } match_key_t;

  /// A search for an equal key. At most one side of a comparison has wildcards.
  typedef struct packed {
    /// searches receives, not messages
    logic       posts;
    logic       any_source;
    logic       any_tag;
    match_key_t key;
  } match_search_t;

  /// Data of a matching entry that the completion reports
  typedef struct packed {
    logic        rendezvous;
    logic [7:0]  length;
    logic [15:0] source;
    logic [31:0] tag;
    logic [31:0] handle;
  } match_found_t;

  function automatic match_key_t key_of(match_command_t command);
    return '{rank: command.rank, communicator: command.communicator, source: command.source, tag: command.tag};
  endfunction

  function automatic match_search_t search_of(match_command_t command);
    return '{posts: command.op inside {MatchOpArrive, MatchOpCancel}, any_source: command.any_source,
             any_tag: command.any_tag, key: key_of(command)};
  endfunction

  /// Whether an entry matches: rank and communicator are always compared; source and tag may be wildcards.
  function automatic logic fits(match_search_t search, match_search_t entry);
    return search.key.rank == entry.key.rank && search.key.communicator == entry.key.communicator
        && (search.any_source || entry.any_source || search.key.source == entry.key.source)
        && (search.any_tag || entry.any_tag || search.key.tag == entry.key.tag);
  endfunction

  /// Classes of lists, by the wildcards of their receives
  localparam int unsigned Classes = 4;

  function automatic logic [1:0] class_of(match_search_t search);
    return {search.any_tag, search.any_source};
  endfunction

  /// A request that is invalid for an engine with this number of ranks
  function automatic logic is_bad(match_command_t command, int unsigned ranks);
    return command.op > MatchOpTake || 32'(command.rank) >= ranks
        || (command.op == MatchOpArrive && (command.any_source || command.any_tag));
  endfunction

  /// The completion of a request. Its message fields are those of the matching entry, or the request's own if the
  /// request is a message or has no match.
  function automatic match_completion_t completion_of(match_command_t command, match_status_e status, logic found,
                                                      match_found_t entry);
    match_completion_t done;
    done = '{op: command.op, status: status, rendezvous: command.rendezvous, length: command.length,
             source: command.source, tag: command.tag, handle: command.handle, default: '0};
    if (found) begin
      done.partner = entry.handle;
      if (command.op != MatchOpArrive) begin
        done.rendezvous = entry.rendezvous;
        done.length     = entry.length;
        done.source     = entry.source;
        done.tag        = entry.tag;
      end
    end
    return done;
  endfunction

  /// Whether a request without a match waits in its queue
  function automatic logic stays(match_op_e op);
    return op == MatchOpPost || op == MatchOpArrive;
  endfunction
endpackage
