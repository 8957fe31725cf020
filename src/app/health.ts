/** Health as `status` and `/healthz` report it: reasons that make it bad, and what is only degraded. */

import type { Trial } from '../adapters/envs/sandbox/self-test.ts'
import type { Context } from '../commands/command.ts'
import { describeLoss, LOSS_REMEDY, LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../domain/unreadable.ts'
import type { Notifier } from '../kernel/notifier.ts'
import { unpairedNote } from '../kernel/target.ts'
import type { PluginHost } from '../ports/plugin.ts'
import { type Store, unlessUnreadable } from '../ports/store.ts'

export async function checkHealth(host: PluginHost): Promise<Awaited<ReturnType<Context['health']>>> {
  const config = host.get('config')
  const documents = host.get('documents')
  const sandbox = host.get('sandbox')
  const strays = host.get('strays')
  const { redact } = host.get('secrets')
  const reasons = [
    ...(await host.get('kernel').ailments()),
    ...host
      .get('queue')
      .damage()
      .map((found) => `the database is damaged: ${found}`),
    ...(await lostCommits(host.get('store'))),
    ...sandbox.swept,
    ...unreadableIn(host.get('store')),
    ...host
      .get('engine')
      .breaker.refusing()
      .map((provider) => `the provider ${provider} refuses its key: set the right one, then: models test`),
    ...strays.reasons().map(redact),
  ]
  // Looked at now: the edit may be newer than the last cycle.
  await documents.waiting()
  return {
    ok: reasons.length === 0,
    reasons,
    degraded: [
      ...sandboxProblems(sandbox.known()),
      ...(await missingBehaviours(host.get('store'), host.get('behaviours').all)),
      ...degradedBy(documents.degraded(), config.refused()),
      ...host
        .get('skills')
        .changes()
        .map(({ text }) => text),
      ...host
        .get('mcp')
        .notes()
        .map(({ text }) => firstLine(text)),
      ...strays.degraded().map(redact),
      ...(await unpairedNotes(host.get('notifier'))),
    ],
  }
}

const execIsOff = (why: string): string =>
  `bash is off, because there is no sandbox that holds (${why}); see \`tireless doctor\`, or set \`sandbox: off\` to let agents run commands as you`

/** Contract: empty where commands can run. */
export const sandboxProblems = (trial: Trial | undefined): string[] =>
  trial?.holds === false ? [execIsOff(trial.why)] : []

/** Contract: empty where no acknowledged commit is missing. */
export async function lostCommits(store: Store): Promise<string[]> {
  const lost = (await unlessUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  return lost === null ? [] : [`${describeLoss(lost)}. Do this: ${LOSS_REMEDY}`]
}

function unreadableIn(store: Store): string[] {
  const rows = store.skipped()
  return rows.length === 0 ? [] : [`${describeUnreadable(rows)}. Do this: ${SET_ASIDE_REMEDY}`]
}

/** More of those that wait are not looked through. */
const MOST_WAITING = 1000

async function missingBehaviours(store: Store, known: ReadonlyMap<string, unknown>): Promise<string[]> {
  const waiting = await store.dispatches({ status: 'waiting', limit: MOST_WAITING })
  const missing = waiting.flatMap(({ wait }) => (wait?.kind === 'retry' && wait.behaviour ? [wait.behaviour] : []))
  return [...new Set(missing)]
    .filter((name) => !known.has(name))
    .map((name) => {
      const count = missing.filter((each) => each === name).length
      return `${count} parked ${count === 1 ? 'run waits' : 'runs wait'} for the behaviour ${name}, which this program does not have: add it, or cancel them (queue list --status waiting)`
    })
}

async function unpairedNotes(notifier: Pick<Notifier, 'unpairedTarget'>): Promise<string[]> {
  const unpaired = await notifier.unpairedTarget()
  if (!unpaired) return []
  const { found, remedy } = unpairedNote(unpaired)
  return [`${found}; ${remedy}`]
}

/** What has changed in a tool is a matter of many lines, for `mcp list`. */
const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

const degradedBy = (documents: string | null, refused: string | null): string[] => [
  ...(documents === null ? [] : [documents]),
  ...(refused === null ? [] : [`the changed configuration is refused, the last good one holds: ${refused}`]),
]
