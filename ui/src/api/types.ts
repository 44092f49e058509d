// Shapes of the server's answers. Of diagnoses and tables: docs/diagnosis.schema.json, docs/metrics.md.

export interface StepSpan {
  readonly number: number;
  readonly begin_ns: number;
  readonly end_ns: number;
  readonly counted: boolean;
}

export interface DeviceInfo {
  readonly device: number;
  readonly name?: string;
}

export interface SessionInfo {
  readonly state: 'reading' | 'ready' | 'failed';
  readonly progress?: number | null;
  readonly message?: string;
  readonly input: string;
  readonly digest?: string;
  readonly version?: string;
  readonly command?: string;
  readonly range?: { readonly begin_ns: number; readonly end_ns: number };
  /** What windows, tables and findings count from is its begin; the timeline counts from range. */
  readonly span?: { readonly begin_ns: number; readonly end_ns: number };
  readonly inputs?: readonly {
    readonly index: number;
    readonly name: string;
    readonly rank: number | null;
  }[];
  readonly devices?: readonly DeviceInfo[];
  /** False while steps are still being found; the timeline can be asked for by then. */
  readonly analysed?: boolean;
  /** The file has changed since it was read. */
  readonly replaced?: boolean;
  /** What the command line selected. */
  readonly scope?: Readonly<Record<string, string>>;
  readonly steps?: readonly StepSpan[];
}

export interface Interval {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

export interface Evidence {
  readonly text: string;
  readonly slices: readonly number[];
  readonly begin_ns?: number;
  readonly end_ns?: number;
  readonly location?: string;
}

export interface Finding {
  readonly id: string;
  readonly rule: string;
  readonly title: string;
  readonly phase: string;
  readonly family: string;
  readonly severity: string;
  readonly confidence: string;
  readonly effort: string;
  readonly upper_bound_ns: number;
  readonly step_ns: number;
  readonly step_percent: number;
  readonly predicted_step_ns: Interval | null;
  readonly saves_after_others_ns: number | null;
  readonly assumption: string;
  readonly evidence: readonly Evidence[];
  readonly counter_evidence: string;
  readonly fix: { readonly text: string; readonly before: string; readonly after: string };
  readonly verify: string;
  readonly part: 'gain' | 'no_gain' | 'capture';
  readonly number: number | null;
  readonly alternatives?: readonly Finding[];
}

export interface StepAccount {
  readonly step: number;
  readonly start_ns: number;
  readonly window_ns: number;
  readonly outlier: boolean;
  readonly account_ns: Readonly<Record<string, number>>;
}

export interface RankRecording {
  readonly input: string;
  readonly rank: number | null;
  readonly step_mean_ns: number;
  readonly communication_ns: number;
  readonly waited_ns: number;
  readonly made_wait_ns: number;
  readonly came_last: number;
  readonly verdict: string;
  readonly waits: readonly { readonly step: number; readonly waited_ns: number }[];
}

export interface RanksPart {
  readonly diagnosed: number;
  readonly why: string;
  readonly late: number | null;
  readonly late_percent: number;
  readonly compared: number;
  readonly not_compared: number;
  readonly recordings: readonly RankRecording[];
  readonly missing: readonly string[];
}

export interface Baseline {
  readonly step_name: string;
  readonly step_note: string;
  readonly steps: number;
  readonly steps_left_out: number;
  readonly step_mean_ns: number;
  readonly step_median_ns: number;
  readonly step_min_ns: number;
  readonly step_max_ns: number;
  readonly step_stddev_ns: number;
  readonly step_p95_ns: number | null;
  readonly step_p95_reason: string;
  readonly usual_steps: number;
  readonly usual_step_ns: number;
  readonly device: number | null;
  readonly device_name: string;
  readonly devices: number;
  readonly samples_per_step: number | null;
  readonly samples_per_second: number | null;
  readonly tokens_per_step: number | null;
  readonly tokens_per_second: number | null;
  readonly mfu_percent: number | null;
  readonly device_busy_percent: number | null;
  readonly utilisation: string;
  readonly peak_allocated_bytes: number | null;
  readonly peak_reserved_bytes: number | null;
  readonly device_memory_bytes: number | null;
  readonly operators_on: string;
  readonly operators: readonly {
    readonly name: string;
    readonly self_ns: number;
    readonly percent: number;
  }[];
}

export interface Diagnosis {
  readonly input: string;
  readonly baseline: Baseline;
  readonly health: readonly {
    readonly check: string;
    readonly status: string;
    readonly sentence: string;
    /** Numbers that are not to be trusted, PLACE.NAME; a * is any place or any name. */
    readonly harms: readonly string[];
  }[];
  readonly checklist: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: 'met' | 'not_met' | 'not_recordable';
    readonly reason: string;
  }[];
  readonly account_ns: Readonly<Record<string, number>>;
  readonly usual_account_ns: Readonly<Record<string, number>>;
  readonly steps: readonly StepAccount[];
  readonly steps_total: number;
  readonly verdict: {
    readonly id: string;
    readonly sentence: string;
    readonly also: readonly string[];
    readonly families: readonly {
      readonly family: string;
      readonly per_step_ns: number;
      readonly percent: number;
    }[];
  };
  readonly findings: readonly Finding[];
  readonly findings_total: number;
  readonly together: {
    readonly numbers: readonly number[];
    readonly step_ns: number;
    readonly predicted_step_ns: Interval;
  } | null;
  readonly rules: readonly {
    readonly rule: string;
    readonly outcome: string;
    readonly reason: string;
  }[];
  readonly replay_residual_percent: number;
  readonly focus_next: string | null;
  readonly run: Readonly<Record<string, unknown>> | null;
  readonly ranks: RanksPart | null;
  readonly notes: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly kind: string;
  readonly unit: string;
  readonly doc: string;
}

export interface ReportInfo {
  readonly id: string;
  readonly title: string;
  readonly doc: string;
  readonly columns: readonly Column[];
  readonly group_by?: readonly string[];
}

export type Row = Readonly<Record<string, unknown>>;

export interface TableAnswer {
  readonly report: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly rows_total?: number;
  readonly notes: readonly string[];
}

export type TrackKind = 'host' | 'stream' | 'counter' | 'accounting' | 'annotations';

export interface Track {
  readonly id: number;
  readonly title: string;
  readonly kind: TrackKind;
  readonly lanes: number;
  readonly slices: number;
  readonly covered_ns: number | null;
  readonly unit?: string | null;
  readonly device?: number | null;
  readonly folded?: boolean;
}

export interface TrackGroup {
  readonly title: string;
  readonly kind: string;
  readonly tracks: readonly Track[];
}

export interface TracksAnswer {
  readonly groups: readonly TrackGroup[];
  /** What a box's class means: an index into these ids. */
  readonly classes?: readonly string[];
}

/** A slice as an end of a flow or of a link. */
export interface SliceRef {
  readonly id: number;
  readonly name?: string;
  readonly track?: number;
  readonly lane?: number;
  readonly begin_ns?: number;
  readonly duration_ns?: number;
}

export type LinkEnd = number | SliceRef;

export const idOf = (end: LinkEnd): number => (typeof end === 'number' ? end : end.id);

export interface SliceAnswer extends SliceRef {
  readonly name: string;
  readonly begin_ns: number;
  readonly duration_ns: number;
  readonly self_ns?: number | null;
  readonly total_ns?: number | null;
  readonly category?: string;
  readonly arguments?: readonly { readonly key: string; readonly value: unknown }[];
  readonly stack?: string;
  readonly link_names?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, LinkEnd | readonly LinkEnd[] | null>>;
  readonly [key: string]: unknown;
}

export interface FlowsAnswer {
  readonly flows: readonly {
    readonly from: LinkEnd;
    readonly to: LinkEnd;
    readonly kind: string;
  }[];
  readonly left_off: number;
}

export interface BucketTime {
  readonly id: string;
  readonly ns: number;
}

export interface SelectionAnswer {
  readonly rows: readonly {
    readonly name: string | null;
    readonly category: string;
    readonly slices: number;
    readonly total_ns: number;
    readonly covered_ns: number | null;
  }[];
  readonly accounting: readonly {
    readonly device: number | null;
    readonly buckets: readonly BucketTime[];
  }[];
}

export interface FlameNode {
  readonly name: string;
  /** What its width means: time, or bytes. */
  readonly total_ns: number;
  /** Between two recordings: what the new one has more. */
  readonly change_ns?: number;
  readonly self_ns?: number;
  /** Children too small to be told apart, and their time. */
  readonly merged?: number;
  readonly merged_ns?: number;
  readonly children?: readonly FlameNode[];
}

export interface SearchAnswer {
  readonly slices: number;
  readonly names: readonly {
    readonly name: string;
    readonly slices: number;
    readonly total_ns: number;
  }[];
  readonly first: readonly LinkEnd[];
  readonly density: readonly number[];
}

export interface CounterBin {
  readonly begin_ns: number;
  readonly min: number;
  readonly max: number;
  readonly max_at_ns: number;
  readonly mean: number;
  readonly last: number;
}

export interface Forecast {
  readonly step_median_ns: number;
  readonly step_mean_ns: number;
  readonly bound_by: string;
  readonly critical_path: Readonly<Record<string, number>>;
}

export interface WhatIfAnswer {
  readonly steps: number;
  readonly before: Forecast;
  readonly best: Forecast;
  readonly worst: Forecast;
  readonly changes: readonly {
    readonly what: string;
    readonly slices: number;
    readonly assumption: string;
  }[];
  readonly residuals: { readonly percent: number };
  readonly notes: readonly string[];
  readonly command?: string;
}

export interface CompareRow {
  readonly bucket: string;
  readonly what: string;
  readonly module: string;
  readonly shapes: string;
  readonly place: string;
  readonly cause: string;
  readonly detail: string;
  readonly change_ns: number;
  readonly base_sum_ns: number;
  readonly new_sum_ns: number;
  readonly base_calls: number;
  readonly new_calls: number;
  readonly kernels?: readonly Row[];
}

export interface CompareSide {
  readonly input: string;
  readonly steps: number;
  readonly median_ns: number;
  readonly mean_ns: number;
}

export interface ComparePair {
  readonly rank: number | null;
  readonly comparability: string;
  readonly base: CompareSide;
  readonly new: CompareSide;
  readonly change_ns: number;
  readonly ratio: number;
  readonly ratio_interval: readonly [low: number, high: number] | null;
  readonly ratio_note?: string;
  readonly skew_ns?: number;
  readonly differs?: readonly Row[];
  readonly counters?: readonly {
    readonly id: string;
    readonly title: string;
    readonly unit: string;
    readonly base: number;
    readonly new: number;
    readonly equal: boolean;
  }[];
  readonly buckets?: readonly {
    readonly bucket: string;
    readonly change_ns: number;
    readonly base_sum_ns: number;
    readonly new_sum_ns: number;
    readonly rows: readonly number[];
  }[];
  readonly phases?: readonly {
    readonly phase: string;
    readonly change_ns: number;
    readonly modules: readonly {
      readonly module: string;
      readonly change_ns: number;
      readonly rows: readonly number[];
    }[];
  }[];
  readonly notes?: readonly string[];
  readonly causes?: readonly {
    readonly cause: string;
    readonly change_ns: number;
    readonly rows: readonly number[];
  }[];
  readonly rows?: readonly CompareRow[];
}

export interface CompareAnswer {
  readonly shown: number;
  readonly pairs: readonly ComparePair[];
}
