/* rondo-bugs: what others who capture and replay work were hurt by, as cases for every backend.
 *
 * Public fault reports of some thirty projects were read for what happened, and each became a scenario with a number.
 * `ours` lists them all: with the case that plays the scenario, or with the reason why it cannot happen here. Cases
 * that any backend has to pass anyway stand in the contract, tests/conform, and are named here; the others stand in
 * this folder. A scenario may need several cases. */
#include "suite.h"

const char suite_name[] = "rondo-bugs";
const bool suite_shows_groups = true;

#define CONFORM_TABLE(name) extern const struct conform_case conform_##name##_cases[];
#include "tables.h"
#undef CONFORM_TABLE
extern const struct conform_case bugs_windows_cases[], bugs_memory_cases[], bugs_sizes_cases[], bugs_loss_cases[];

static const struct conform_case *const tables[] = {
#define CONFORM_TABLE(name) conform_##name##_cases,
#include "tables.h"
#undef CONFORM_TABLE
    bugs_windows_cases, bugs_memory_cases, bugs_sizes_cases, bugs_loss_cases,
};

/* A scenario and a case for it; without a case, why there is none. */
struct bug {
    const char *number, *name, *reason;
};

static const struct bug bugs[] = {
    /* Calls out of order, and windows that fail. */
    {"B01", "calls_out_of_order_are_refused_one_by_one_and_harm_nothing", NULL},
    {"B03", "a_window_that_cannot_be_closed_leaves_the_stream_free_for_the_next", NULL},
    {"B03", "a_window_whose_graph_is_not_built_leaves_the_stream_free_for_the_next", NULL},
    {"B05", "a_refused_operations_own_output_is_spoiled_after_the_seal", NULL},
    {"B07", "a_caller_who_gives_up_in_a_window_leaves_the_stream_to_others", NULL},
    {"B09", "work_behind_failed_work_is_never_fine", NULL},
    {"B11", "an_old_failure_is_not_blamed_on_later_calls", NULL},
    /* Memory that a graph needs. */
    {"B13", "a_captured_buffer_that_was_freed_keeps_its_place", NULL},
    {"B15", "scratch_that_grows_leaves_the_older_graph_its_own", NULL},
    {"B17", "buffers_made_after_the_seal_are_never_overwritten_by_a_replay", NULL},
    {"B17", "a_destroyed_graphs_memory_is_handed_out_again", NULL},
    {"B19", "a_graph_is_the_last_owner_of_all_that_it_uses", NULL},
    {"B19", "a_released_kernel_stays_with_the_graph", NULL},
    {"B21", "a_recorded_write_keeps_the_bytes_of_the_moment_of_the_call", NULL},
    {"B23", "a_recorded_live_write_follows_its_block", NULL},
    {"B25", "a_recorded_callback_runs_at_each_replay_and_is_released_once", NULL},
    /* Threads, streams, events. */
    {"B27", "another_threads_work_never_disturbs_a_window", NULL},
    {"B29", "frees_and_trims_at_the_edges_of_windows_disturb_nobody", NULL},
    {"B31", "a_graph_belongs_to_no_thread", NULL},
    {"B33", "work_on_another_stream_is_no_part_of_a_window_and_cannot_pretend_to_be", NULL},
    {"B35", "a_wait_for_what_happened_before_the_window_is_refused_at_the_call", NULL},
    {"B37", "memory_that_other_work_still_reads_is_handed_to_nobody", NULL},
    {"B37", "memory_that_a_replay_still_reads_is_handed_to_nobody", NULL},
    /* Pools. */
    {"B39", "a_thousand_temporaries_in_turn_need_the_room_of_few", NULL},
    {"B41", "memory_pressure_takes_nothing_from_a_graph_and_names_it", NULL},
    {"B41", "a_trim_takes_nothing_that_a_graph_needs_and_says_how_much_stays", NULL},
    {"B43", "a_thousand_cycles_of_make_replay_and_drop_are_flat", NULL},
    {"B45", "a_trace_that_fits_when_frees_count_fits", NULL},
    {"B47", "a_window_that_ran_out_of_room_gives_all_of_it_back", NULL},
    /* Updates. */
    {"B49", "a_value_is_copied_from_wherever_it_stands", NULL},
    {"B51", "an_update_reaches_one_graph_of_several_equal_ones", NULL},
    {"B53", "an_update_that_cannot_be_is_refused_once_and_the_graph_goes_on", NULL},
    /* Measuring. */
    {"B55", "a_measurement_around_replays_of_an_older_graph_is_right", NULL},
    {"B55", "the_owners_profile_in_a_window_is_forbidden_and_dooms_nothing", NULL},
    {"B57", "the_time_between_two_events_of_a_graph_is_that_of_its_latest_replay", NULL},
    /* Graphs in windows, empty ones, several devices. */
    {"B59", "a_replay_in_a_window_appends_the_nodes_and_runs_nothing", NULL},
    {"B59", "the_outer_graph_outlives_the_inner_one_and_its_buffers", NULL},
    {"B59", "updates_of_one_graph_do_not_reach_the_other", NULL},
    {"B61", "a_window_whose_work_went_elsewhere_says_that_it_is_empty", NULL},
    {"B63", "graphs_of_two_devices_share_nothing", NULL},
    {"B63", "transfers_that_mix_devices_are_foreign", NULL},
    /* Sizes. */
    {"B65", "chains_of_any_length_add_up", NULL},
    {"B65", "chains_of_launches_add_up_and_take_an_update_in_the_middle", NULL},
    {"B67", "updates_of_long_graphs_cost_what_they_change", NULL},
    {"B69", "a_grid_without_items_is_no_error_that_sticks", NULL},
    {"B69", "a_group_has_between_1_and_1024_items", NULL},
    {"B71", "a_buffer_may_have_no_bytes", NULL},
    {"B71", "transfers_of_nothing_do_nothing", NULL},
    {"B71", "zero_sized_work_in_a_window_does_nothing", NULL},
    {"B71", "a_span_past_the_end_is_out_of_range_everywhere", NULL},
    {"B73", "a_buffer_starts_at_the_devices_alignment", NULL},
    {"B73", "a_misaligned_argument_is_invalid_and_named", NULL},
    {"B75", "only_the_named_bytes_change_at_a_replay", NULL},
    {"B75", "a_write_changes_its_span_and_nothing_else", NULL},
    {"B75", "a_launch_works_on_slices", NULL},
    /* Order. */
    {"B77", "input_and_output_can_be_swapped", NULL},
    {"B77", "an_update_to_aliased_arguments_is_refused_unless_the_kernel_allows_it", NULL},
    {"B79", "work_right_after_a_wide_fill_sees_all_of_it", NULL},
    {"B81", "replays_from_four_threads_and_streams_queue_up", NULL},
    {"B83", "a_thousand_replays_in_a_row_lose_and_swap_nothing", NULL},
    /* The end of things. */
    {"B85", "everything_may_be_released_while_a_replay_runs", NULL},
    {"B87", "a_graph_and_its_surroundings_may_go_in_any_order", NULL},
    {"B89", "a_lost_device_says_so_until_it_is_opened_anew", NULL},
    {"B91", "an_upload_that_was_aborted_does_not_count_as_done", NULL},
    {"B91", "an_upload_that_was_aborted_in_a_replay_does_not_count_as_done", NULL},
    {"B93", "a_child_may_open_a_device_of_its_own", NULL},
    {"B93", "a_child_cannot_use_its_parents_device", NULL},
    {"B95", "a_process_may_exit_with_everything_open", NULL},
    {"B95", "a_process_may_exit_while_workers_wait", NULL},
    /* What a replay leaves. */
    {"B97", "a_copy_between_two_replays_has_the_first_ones_bytes", NULL},
    {"B99", "a_kernel_may_be_used_and_even_made_for_the_first_time_in_a_window", NULL},
    {"B101", "state_that_nobody_reads_moves_at_each_replay", NULL},
    {"B103", NULL,
     "a buffer is never resized and its storage never changes behind its handle: nothing does that but relocation, "
     "which leaves what a graph uses where it is"},
};

enum { FIRST_NUMBER = 1, LAST_NUMBER = 103 }; /* the odd ones */

static const struct conform_case *find(const char *name) {
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        for (const struct conform_case *item = tables[k]; item->name != NULL; item++) {
            if (strcmp(item->name, name) == 0) return item;
        }
    }
    return NULL;
}

bool suite_get(size_t index, struct suite_entry *out) {
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        const struct conform_case *item = bugs[i].name != NULL ? find(bugs[i].name) : NULL;
        if (item == NULL || index-- != 0) continue;
        *out = (struct suite_entry){bugs[i].number, item};
        return true;
    }
    return false;
}

static bool is_listed(int number) {
    char text[16];
    snprintf(text, sizeof text, "B%02d", number);
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        if (strcmp(bugs[i].number, text) == 0) return true;
    }
    printf("FAIL %s is neither tested nor is there a reason\n", text);
    return false;
}

unsigned suite_tell_the_rest(void) {
    unsigned mistakes = 0;
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        if (bugs[i].name == NULL) printf("none %s: %s\n", bugs[i].number, bugs[i].reason);
        if (bugs[i].name == NULL || find(bugs[i].name) != NULL) continue;
        printf("FAIL %s: there is no case %s\n", bugs[i].number, bugs[i].name);
        mistakes++;
    }
    for (int number = FIRST_NUMBER; number <= LAST_NUMBER; number += 2) mistakes += !is_listed(number);
    return mistakes;
}
