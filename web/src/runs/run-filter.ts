/** The filters of the list of runs, as the address has them and as the server takes them. Pure. */

export interface RunFilter {
  readonly q: string
  readonly agent: string
  readonly status: string
  /** A local day, `2026-01-31`. */
  readonly day: string
}

const KEYS = ['q', 'agent', 'status', 'day'] as const

export const STATUSES = ['running', 'waiting', 'pending', 'done', 'failed', 'cancelled', 'dead'] as const

export function readFilter(query: URLSearchParams): RunFilter {
  const [q = '', agent = '', status = '', day = ''] = KEYS.map((key) => query.get(key) ?? '')
  return {
    ...{ q, agent },
    status: STATUSES.some((known) => known === status) ? status : '',
    day: /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(startOf(day)) ? day : '',
  }
}

/** Contract: the query of the address; empty without filters. */
export const toSearch = (filter: RunFilter): string =>
  new URLSearchParams(KEYS.flatMap((key) => (filter[key] === '' ? [] : [[key, filter[key]]]))).toString()

/** Contract: the filter as input of `queue list`. */
export const toQuery = ({ q, agent, status, day }: RunFilter) => ({
  ...(q.trim() === '' ? {} : { search: q.trim() }),
  ...(agent === '' ? {} : { agent }),
  ...(status === '' ? {} : { status: status as (typeof STATUSES)[number] }),
  ...(day === '' ? {} : { from: new Date(startOf(day)).toISOString(), to: new Date(startOf(day, 1)).toISOString() }),
})

/** Midnight by the browser's time zone; a day has 23 to 25 hours. */
function startOf(day: string, daysLater = 0): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).getTime()
}
