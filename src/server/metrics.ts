/** Status and process metrics in the Prometheus text format. */

import { monitorEventLoopDelay } from 'node:perf_hooks'

type Loop = ReturnType<typeof monitorEventLoopDelay>

interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number | null | undefined
}

/** The part of the output of `status` that becomes metrics. */
interface StatusCounts {
  readonly kernel: { readonly state: string; readonly last_cycle?: unknown }
  readonly queue: Readonly<Record<string, number>>
  readonly sessions: Readonly<Record<string, number>>
  readonly spend: { readonly today_usd: number | null; readonly cap_usd: number | null; readonly calls: number | null }
  readonly residents: readonly ResidentCounts[]
  readonly approvals: number
  readonly unknowns: number
  readonly health: { readonly ok: boolean }
}

interface ResidentCounts {
  readonly agent_id: string
  readonly state: string
  readonly looks: number
  readonly unread: number
}

interface Cycle {
  readonly status?: string
  readonly duration_ms?: number
  readonly dispatched?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly parked?: number
}

export interface Metrics {
  text(status: unknown): string
  close(): void
}

/** The delay of the event loop is measured from the first request for metrics on, so unused metrics cost nothing. */
export function createMetrics(viewers: () => number): Metrics {
  let loop: Loop | undefined
  return {
    text(status) {
      loop ??= startLoopMonitor()
      return [...statusMetrics(status as StatusCounts), ...processMetrics(loop, viewers())].join('')
    },
    close: () => loop?.disable(),
  }
}

function startLoopMonitor(): Loop {
  const loop = monitorEventLoopDelay({ resolution: 50 })
  loop.enable()
  return loop
}

function statusMetrics(status: StatusCounts): string[] {
  const { kernel, queue, sessions, residents, spend, approvals, unknowns, health } = status
  const cycle = (kernel.last_cycle ?? {}) as Cycle
  const { dispatched, succeeded, failed, parked } = cycle
  return [
    gauge('tireless_up', '1 if the queue is being worked', [{ value: Number(kernel.state === 'running') }]),
    gauge('tireless_healthy', '1 if /healthz reports ok', [{ value: Number(health.ok) }]),
    gauge('tireless_dispatches', 'dispatches by status', by('status', queue)),
    gauge('tireless_sessions', 'sessions by state', by('state', sessions)),
    ...residentMetrics(residents),
    gauge('tireless_approvals_open', 'calls awaiting approval', [{ value: approvals }]),
    gauge('tireless_unknowns_open', 'calls with an unknown outcome', [{ value: unknowns }]),
    gauge('tireless_spend_today_usd', 'US dollars spent today', [{ value: spend.today_usd }]),
    gauge('tireless_spend_cap_usd', 'daily limit in US dollars', [{ value: spend.cap_usd }]),
    gauge('tireless_model_calls_today', 'model calls today', [{ value: spend.calls }]),
    gauge('tireless_last_cycle_seconds', 'duration of the last cycle', [{ value: seconds(cycle.duration_ms) }]),
    gauge(
      'tireless_last_cycle_dispatches',
      'dispatches of the last cycle, by outcome',
      by('outcome', { dispatched, succeeded, failed, parked }),
    ),
    gauge(
      'tireless_last_cycle_status',
      'status of the last cycle',
      cycle.status === undefined ? [] : [{ labels: { status: cycle.status }, value: 1 }],
    ),
  ]
}

function residentMetrics(residents: readonly ResidentCounts[]): string[] {
  const states = Object.entries(Object.groupBy(residents, ({ state }) => state))
  const each = (count: 'looks' | 'unread'): Sample[] =>
    residents.map((resident) => ({ labels: { agent: resident.agent_id }, value: resident[count] }))
  return [
    gauge(
      'tireless_residents',
      'residents by state',
      by('state', Object.fromEntries(states.map(([state, all]) => [state, all?.length]))),
    ),
    metric('counter', 'tireless_resident_looks_total', 'looks since the process started', each('looks')),
    gauge('tireless_resident_unread', 'observations that the resident has not seen', each('unread')),
  ]
}

function processMetrics(loop: Loop, viewers: number): string[] {
  const { rss, heapUsed } = process.memoryUsage()
  const lag = (nanoseconds: number): number => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0)
  const text = [
    gauge('tireless_viewers', 'connected viewers of live events', [{ value: viewers }]),
    gauge('process_resident_memory_bytes', 'resident memory', [{ value: rss }]),
    gauge('nodejs_heap_size_used_bytes', 'heap in use', [{ value: heapUsed }]),
    gauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of event-loop delay since the last scrape', [
      { value: lag(loop.percentile(99)) },
    ]),
    gauge('nodejs_eventloop_lag_max_seconds', 'maximum event-loop delay since the last scrape', [
      { value: lag(loop.max) },
    ]),
  ]
  loop.reset()
  return text
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)

const by = (label: string, counts: Readonly<Record<string, number | undefined>>): Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

const gauge = (name: string, help: string, samples: readonly Sample[]): string => metric('gauge', name, help, samples)

/** Contract: the lines of one metric; empty if no sample has a value. */
function metric(type: 'gauge' | 'counter', name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.flatMap(({ labels, value }) =>
    typeof value === 'number' ? [`${name}${labelled(labels)} ${value}\n`] : [],
  )
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelled(labels: Sample['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
