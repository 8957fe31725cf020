/** What the drill expects at its end, compared with records, the provider's books, /proc and the commands' files. */

import { isTerminal } from '../../../src/domain/dispatch.ts'
import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import type { RecordedRequest } from '../../../src/testing/provider-server.ts'
import { type CommandEvidence, commandName } from './command-evidence.ts'
import type { SharedProcess } from './shared-process.ts'
import type { Takeovers } from './takeovers.ts'
import { BEAT_MS, CAP_USD, DEAR_ANSWER_USD, isDear, taskIn } from './task-load.ts'
import { queryRows, witnessedWrites } from './witness.ts'

export interface Finding {
  readonly what: string
  /** How much was looked at. */
  readonly checked: number | string
  readonly violations: readonly string[]
}

export interface Evidence {
  readonly url: string
  /** When the processes were ended. */
  readonly endedAt: number
  readonly leaseMs: number
  readonly processes: readonly SharedProcess[]
  readonly takeovers: Takeovers
  readonly commands: CommandEvidence
  readonly requests: readonly RecordedRequest[]
  readonly acknowledged: ReadonlyMap<number, string>
  journalOf(sessionId: string): Promise<readonly JournalRecord[]>
}

interface TaskRow {
  readonly dispatch_id: string
  readonly key: string
  readonly status: Parameters<typeof isTerminal>[0]
  readonly result: string | null
  readonly session_id: string
}

export async function judge(evidence: Evidence): Promise<readonly Finding[]> {
  const { url } = evidence
  const tasks = await queryRows<TaskRow>(
    url,
    `SELECT d.dispatch_id, d.key, d.status, d.result, s.session_id FROM dispatches d JOIN sessions s ON s.n = d.session
     WHERE d.key LIKE 'task-%' ORDER BY d.n`,
  )
  return [
    await judgeBeats(evidence),
    ...judgeTakeovers(evidence),
    await judgeWriters(evidence),
    judgeTasks(evidence, tasks),
    judgeRepeats(evidence),
    judgeOverlaps(evidence),
    judgeOutlasting(evidence),
    await judgeAnswers(evidence, tasks),
    judgeMoney(evidence),
    judgeLeftovers(evidence),
  ]
}

/**
 * Every instant of the schedule since the first beat has one cycle, which gave its agent one dispatch, or none while
 * the one before was not over.
 */
async function judgeBeats({ url, endedAt }: Evidence): Promise<Finding> {
  const rows = await queryRows<{ due: string; cycles: string; dispatches: string }>(
    url,
    `SELECT c.due, count(DISTINCT c.cycle_id) AS cycles, count(d.n) AS dispatches FROM cycles c
     LEFT JOIN dispatches d ON d.cycle_id = c.cycle_id WHERE c.due IS NOT NULL GROUP BY c.due ORDER BY c.due`,
  )
  const dues = rows.map(({ due }) => Number(due))
  const first = dues[0] ?? endedAt
  const last = Math.max(dues.at(-1) ?? first, endedAt - MOST_LATE_MS)
  const expected = Array.from({ length: Math.floor((last - first) / BEAT_MS) + 1 }, (_, i) => first + i * BEAT_MS)
  const missing = expected.filter((due) => !dues.includes(due)).map((due) => `no cycle for ${at(due)}`)
  const wrong = rows.filter(({ cycles, dispatches }) => Number(cycles) > 1 || Number(dispatches) > 1)
  const doubled = wrong.map(({ due, cycles, dispatches }) => `${at(due)}: ${cycles} cycles, ${dispatches} dispatches`)
  return { what: 'every beat once', checked: dues.length, violations: [...missing, ...doubled] }
}

/** Beats may still have been caught up with at the end. */
const MOST_LATE_MS = 60_000

const at = (instant: number | string): string => new Date(Number(instant)).toISOString()

function judgeTakeovers({ takeovers, leaseMs }: Evidence): readonly Finding[] {
  return ['lead', 'dispatch'].map((what) => {
    const found = [...takeovers.done, ...takeovers.open].filter((each) => (each.what === 'lead') === (what === 'lead'))
    const late = found.filter(({ ms }) => ms > 2 * leaseMs)
    const longest = Math.max(0, ...found.map(({ ms }) => ms)) / leaseMs
    return {
      what: `${what === 'lead' ? 'the lead' : 'runs'} taken over within two leases`,
      checked: `${found.length} (longest ${longest.toFixed(2)} leases)`,
      violations: late.map(({ fault, ms }) => `after ${fault}: ${Math.round(ms)} ms`),
    }
  })
}

/** What only an owner may write was written by the process that owned it at that moment. */
async function judgeWriters({ url, processes }: Evidence): Promise<Finding> {
  const nameOf = new Map(processes.flatMap(({ starts }) => [...starts]))
  const writes = await witnessedWrites(url)
  const owns = ({ writer, owner }: (typeof writes)[number]): boolean =>
    nameOf.get(Number(/^process (\d+) /.exec(owner ?? '')?.[1])) === writer
  const violations = writes
    .filter((write) => !owns(write))
    .map(({ what, writer, owner }) => `${what} by ${writer}, owner ${owner ?? 'none'}`)
  return { what: 'no write of a stale process', checked: writes.length, violations }
}

/** Each acknowledged task is there once, and has ended. */
function judgeTasks({ acknowledged }: Evidence, tasks: readonly TaskRow[]): Finding {
  const found = new Map(tasks.map((row) => [row.key, row]))
  const lost = [...acknowledged].filter(([task, id]) => found.get(`task-${task}`)?.dispatch_id !== id)
  const open = tasks.filter(({ status }) => !isTerminal(status))
  const wrong = tasks.filter(
    ({ status, result, key }) => status === 'done' && result !== `${key.replace('-', ' ')} is done`,
  )
  return {
    what: 'every task ends once',
    checked: `${tasks.length} (${describeCounts(tasks.map(({ status }) => status))})`,
    violations: [
      ...lost.map(([task]) => `task ${task} was acknowledged and is lost`),
      ...open.map(({ key, status }) => `${key} is ${status}`),
      ...wrong.map(({ key, result }) => `${key}: ${result}`),
      ...(tasks.length === found.size ? [] : ['a task is there twice']),
    ],
  }
}

const describeCounts = (words: readonly string[]): string =>
  [...Map.groupBy(words, (word) => word)].map(([word, { length }]) => `${length} ${word}`).join(', ')

/** Commands are `once`: after a crash they are not run again. */
function judgeRepeats({ commands }: Evidence): Finding {
  const starts = [...commands.starts()]
  const twice = starts.filter(([, times]) => times.length > 1)
  return {
    what: 'no command repeated',
    checked: starts.length,
    violations: twice.map(([name, times]) => `command ${name} ran ${times.length} times`),
  }
}

/** The second command of a task starts when no process of the first is left, wherever that ran. */
function judgeOverlaps({ commands, acknowledged }: Evidence): Finding {
  const starts = commands.starts()
  const both = [...acknowledged.keys()].filter((task) => starts.has(commandName(task, 2)))
  const violations = both.flatMap((task) => {
    const seen = commands.lastSeen(commandName(task, 1)) ?? 0
    const began = starts.get(commandName(task, 2))?.[0] ?? 0
    return seen > began ? [`task ${task}: its first command ran on for ${seen - began} ms beside its second`] : []
  })
  return { what: 'no two commands of a run at once', checked: both.length, violations }
}

/** A process that is stopped, cut off or dead leaves no command that runs when its lease has ended. */
function judgeOutlasting({ processes, commands }: Evidence): Finding {
  return {
    what: 'no command outlasts the lease of its process',
    checked: commands.starts().size,
    violations: processes.flatMap(({ name, outlasting }) =>
      [...outlasting].map(([command, ms]) => `command ${command} of ${name} still ran ${ms} ms after its lease`),
    ),
  }
}

/** A request is on record before it is sent, and none is sent once an answer is on record. */
async function judgeAnswers({ requests, journalOf }: Evidence, tasks: readonly TaskRow[]): Promise<Finding> {
  const bought = Map.groupBy(requests, ({ conversation }) => taskIn(conversation))
  const journals = await Promise.all(tasks.map(({ session_id }) => journalOf(session_id)))
  const violations = tasks.flatMap(({ key }, i) => {
    const journal = journals[i] ?? []
    const requested = journal.filter(({ kind }) => kind === 'model_requested').length
    const answered = journal.flatMap((record) => (record.kind === 'model_answered' ? [record.turn] : []))
    const calls = bought.get(Number(key.slice('task-'.length)))?.length ?? 0
    return [
      ...(calls > requested ? [`${key}: ${calls} answers bought, ${requested} requests on record`] : []),
      ...(new Set(answered).size < answered.length ? [`${key}: two answers of one turn on record`] : []),
      ...askedAgain(journal).map((turn) => `${key}: turn ${turn} was asked again after its answer was on record`),
    ]
  })
  return { what: 'no recorded answer bought again', checked: requests.length, violations }
}

function askedAgain(journal: readonly JournalRecord[]): readonly number[] {
  const answered = new Set<number>()
  return journal.flatMap((record) => {
    if (record.kind === 'model_answered') answered.add(record.turn)
    return record.kind === 'model_requested' && answered.has(record.turn) ? [record.turn] : []
  })
}

/** The provider charges for each request, also if its answer is never read. */
function judgeMoney({ requests }: Evidence): Finding {
  const dear = requests.filter(({ conversation }) => isDear(taskIn(conversation) ?? 0))
  const usd = dear.length * DEAR_ANSWER_USD
  return {
    what: 'the cap holds in the books of the provider',
    checked: `${usd.toFixed(2)} of ${CAP_USD.toFixed(2)} USD`,
    violations: usd > CAP_USD ? [`${dear.length} answers cost ${usd} USD`] : [],
  }
}

function judgeLeftovers({ commands, processes }: Evidence): Finding {
  const broken = processes.filter((process) => process.broken > 0)
  return {
    what: 'no process left, none ended by itself',
    checked: processes.reduce((sum, { starts }) => sum + starts.size, 0),
    violations: [
      ...commands.running().map(({ name }) => `command ${name} still runs`),
      ...broken.map(({ name, broken: times, home }) => `${name} ended by itself ${times} times; see ${home}/output`),
    ],
  }
}
