/** Health for `status` and `/healthz`: reasons for bad health, and degraded parts. */

import { basename } from 'node:path'
import type { SandboxTestResult } from '../adapters/envs/sandbox/self-test.ts'
import { createWorkspaceFolders } from '../adapters/envs/workspace-folders.ts'
import { readDisk } from '../adapters/system/machine.ts'
import type { CommandContext } from '../commands/lib/context.ts'
import { findAway } from '../commands/lib/held-by.ts'
import { unfinishedUndoNotes } from '../commands/lib/unfinished-undos.ts'
import { formatBytes } from '../domain/byte-size.ts'
import type { PeopleText } from '../domain/language.ts'
import { describeLoss, LOSS_REMEDY, LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../domain/unreadable-row.ts'
import type { HomePaths } from '../home.ts'
import { clockNotes } from '../kernel/notify/clock-note.ts'
import { unpairedNote } from '../kernel/notify/notice-target.ts'
import type { Notifier } from '../kernel/notify/notifier.ts'
import { failingResidents } from '../kernel/residents/resident-notes.ts'
import { listTroubles } from '../past/open-needs.ts'
import type { PluginHost } from '../ports/plugin.ts'
import type { HomeSeen } from '../ports/store/queue.ts'
import { fallbackIfUnreadable, isSharedStore, type Store } from '../ports/store.ts'
import { homeId } from './home-id.ts'

export async function checkHealth(host: PluginHost): Promise<Awaited<ReturnType<CommandContext['health']>>> {
  const unreachable = await host
    .get('store')
    .ping?.()
    .catch(({ message }: Error) => message)
  if (unreachable !== undefined) return { ok: false, reasons: [unreachable], degraded: [] }
  const config = host.get('config')
  const documents = host.get('documents')
  const sandbox = host.get('sandbox')
  const unhandledErrors = host.get('unhandledErrors')
  const { redact } = host.get('secrets')
  const reasons = [
    ...(await host.get('kernel').healthProblems()),
    ...host
      .get('queue')
      .damage()
      .map((found) => `the database is damaged: ${found}`),
    ...(await lostCommits(host.get('store'))),
    ...(await halfDoneUndos(host)),
    ...failingResidents(await host.get('residents').describe()),
    ...(await fullDisk(host.get('home').root)),
    ...host
      .get('connections')
      .problems()
      .map(({ text }) => `${text}. Do this: tireless channels list`),
    ...sandbox.swept,
    ...skippedRows(host.get('store')),
    ...host
      .get('engine')
      .breaker.refusingProviders()
      .map((provider) => `the provider ${provider} refuses its key; set the right one, then run tireless models test`),
    ...unhandledErrors.reasons().map(redact),
  ]
  // Document files are checked now, because an edit may be newer than the last cycle.
  await documents.waiting()
  return {
    ok: reasons.length === 0,
    reasons,
    degraded: [
      ...sandboxProblems(sandbox.known()).map(({ text }) => text),
      ...(await awayMachines(host.get('store'), host.get('clock').now())),
      ...(await missingBehaviours(host.get('store'), host.get('behaviours').all)),
      ...serviceProblems(documents.degraded(), config.refused()),
      ...host
        .get('skills')
        .listChanged()
        .map(({ text }) => text),
      ...host
        .get('mcp')
        .notes()
        .map(({ text }) => firstLine(text)),
      ...unhandledErrors.degraded().map(redact),
      ...clockNotes(host.get('storeClock').doubt()).map(({ text }) => text),
      ...(await shortOfSpace(host.get('home'))),
      ...(await unpairedNotes(host.get('notifier'))),
      ...(await troubles(host.get('store'))),
    ],
  }
}

const bashIsOff = (why: string): PeopleText => ({
  text: [
    `bash is disabled: no sandbox works here (${why}).`,
    'Run tireless doctor, or set `sandbox: off` to let agents run commands with your rights.',
  ].join(' '),
  zh: [
    `bash 已停用：这里没有可用的沙箱（${why}）。`,
    '请运行 tireless doctor，或设置 `sandbox: off`，让智能体以您的权限运行命令。',
  ].join(''),
})

/** Contract: empty if commands can run. */
export const sandboxProblems = (trial: SandboxTestResult | undefined): PeopleText[] =>
  trial?.holds === false ? [bashIsOff(trial.why)] : []

/** Contract: empty if no acknowledged commit is missing. */
export async function lostCommits(store: Store): Promise<string[]> {
  const lost = (await fallbackIfUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  return lost === null ? [] : [`${describeLoss(lost)}. Do this: ${LOSS_REMEDY}`]
}

/** Contract: empty if no undo of this home is half done. */
async function halfDoneUndos(host: PluginHost): Promise<readonly string[]> {
  const store = host.get('store')
  return unfinishedUndoNotes({ store, homeId: isSharedStore(store) ? homeId(host.get('home').root) : undefined })
}

/** With less than this, the next write may fail. */
const FULL_DISK_BYTES = 20 * 1024 * 1024

/** Contract: empty if the disk has space, or cannot be asked. */
async function fullDisk(home: string): Promise<string[]> {
  const free = (await readDisk(home).catch(() => undefined))?.freeBytes ?? Number.POSITIVE_INFINITY
  if (free >= FULL_DISK_BYTES) return []
  return [`the disk of the home is full (${Math.floor(free / 1024 ** 2)} MB free). Do this: free some space`]
}

/** Below this, the owner hears which workspaces take the most space: they are never deleted unasked. */
const LOW_DISK_BYTES = 500 * 1024 ** 2
const NAMED_WORKSPACES = 3

async function shortOfSpace(home: HomePaths): Promise<string[]> {
  const free = (await readDisk(home.root).catch(() => undefined))?.freeBytes ?? Number.POSITIVE_INFINITY
  if (free >= LOW_DISK_BYTES) return []
  const folders = createWorkspaceFolders(home)
  const sizes = await Promise.all((await folders.list()).map(async (path) => ({ path, ...(await folders.size(path)) })))
  const largest = sizes.filter(({ bytes }) => bytes > 0).toSorted((a, b) => b.bytes - a.bytes)
  if (largest.length === 0) return []
  const named = largest.slice(0, NAMED_WORKSPACES).map(({ path, bytes }) => `${basename(path)} (${formatBytes(bytes)})`)
  return [
    `space runs short: ${formatBytes(free)} free. The largest workspaces are ${named.join(', ')}. ` +
      'What you no longer need: tireless workspace remove NAME --now',
  ]
}

function skippedRows(store: Store): string[] {
  const rows = store.skipped()
  return rows.length === 0 ? [] : [`${describeUnreadable(rows)}. Do this: ${SET_ASIDE_REMEDY}`]
}

/** Maximum number of waiting dispatches to check. */
const MAX_WAITING = 1000

/** On a shared store: machines that have the files of waiting work, and on which no worker runs. */
async function awayMachines(store: Store, now: number): Promise<string[]> {
  if (!isSharedStore(store)) return []
  const pending = await store.dispatches({ status: 'pending', limit: MAX_WAITING })
  const awayFor = await findAway(store, pending, now)
  const waiting = Map.groupBy(
    pending.flatMap((one) => awayFor(one) ?? []),
    ({ home }) => home,
  )
  return [...waiting.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [sayAway(first, others.length + 1)],
  )
}

const sayAway = ({ host, last_seen }: HomeSeen, count: number): string =>
  `${count} ${count === 1 ? 'run waits' : 'runs wait'} for the machine ${host}, which has their files; ` +
  `${last_seen === null ? 'no worker was seen there' : `last seen at ${last_seen}`}. Start Tireless there`

async function missingBehaviours(store: Store, known: ReadonlyMap<string, unknown>): Promise<string[]> {
  const waiting = await store.dispatches({ status: 'waiting', limit: MAX_WAITING })
  const missing = waiting.flatMap(({ wait }) => (wait?.kind === 'retry' && wait.behaviour ? [wait.behaviour] : []))
  return [...new Set(missing)]
    .filter((name) => !known.has(name))
    .map((name) => {
      const count = missing.filter((each) => each === name).length
      const runs = count === 1 ? 'parked run needs' : 'parked runs need'
      const remedy = 'Add it, or cancel them: tireless queue list --status waiting'
      return `${count} ${runs} the behaviour ${name}, which is missing. ${remedy}`
    })
}

/** What the owner has not looked at yet. */
async function troubles(store: Store): Promise<string[]> {
  const open = await listTroubles({ store })
  const named = open.slice(0, MAX_TROUBLES).map(({ id, title }) => `${title.text}. See: tireless needs show ${id}`)
  return open.length > MAX_TROUBLES
    ? [...named, `${open.length - MAX_TROUBLES} more need you. See: tireless needs list`]
    : named
}

const MAX_TROUBLES = 5

async function unpairedNotes(notifier: Pick<Notifier, 'unpairedTarget'>): Promise<string[]> {
  const unpaired = await notifier.unpairedTarget()
  if (!unpaired) return []
  const { found, remedy } = unpairedNote(unpaired)
  return [`${found}; ${remedy}`]
}

/** Health shows only the first line: the full change of a tool has many lines, and `mcp list` shows them. */
const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

const serviceProblems = (documents: string | null, refused: string | null): string[] => [
  ...(documents === null ? [] : [documents]),
  ...(refused === null ? [] : [`the changed configuration is invalid; the last valid one stays in use: ${refused}`]),
]
