/** Command outputs that the page reads. Fields that a server does not have are null, empty or missing. */

export interface Status {
  readonly kernel: {
    readonly id: string
    readonly state: string
    readonly next_beat: string | null
    readonly last_cycle: Cycle | null
  }
  readonly queue: Readonly<Record<string, number>>
  readonly spend: { readonly today_usd: number | null; readonly cap_usd: number | null; readonly calls: number | null }
  readonly approvals: number
  readonly questions: number
  readonly unknowns: number
  readonly health: { readonly ok: boolean; readonly reasons: readonly string[] }
  readonly degraded: readonly string[]
}

export interface Cycle {
  readonly cycle_id: string
  readonly status: string
  readonly dispatched: number
  readonly succeeded: number
  readonly failed: number
  readonly parked: number
  readonly idle_reason: string | null
  readonly error: string | null
  readonly duration_ms: number
  readonly started_at?: string
  readonly agents: readonly { readonly agent_id: string; readonly status: string; readonly summary: string | null }[]
}

/** A stored cycle; its result is null while it runs. */
export interface CycleRecord {
  readonly cycle_id: string
  readonly started_at: string
  readonly result: Cycle | null
}

export interface Dispatch {
  readonly dispatch_id: string
  readonly agent_id: string
  readonly session_id: string
  /** The owner's part of the prompt. */
  readonly title: string
  /** First lines of the result, else the error, else what it waits for. */
  readonly outcome?: string | null
  readonly status: string
  readonly wait: { readonly kind: string; readonly reason: string; readonly until: number | null } | null
  readonly result: string | null
  readonly error: string | null
  readonly updated_at: string
}

export interface Approval {
  readonly id: string
  readonly session_id: string
  readonly tool: string
  readonly args: unknown
  readonly reason: string
  readonly expires_at: string
}

export interface Unknown {
  readonly id: string
  readonly session_id: string
  readonly tool: string
  readonly args: unknown
  readonly status: string
}

export interface List<T> {
  readonly items: readonly T[]
}
