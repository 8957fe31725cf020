/**
 * Replies: what goes to the owner when a run of a conversation ends. It is part of the commit that ends the run, so it
 * leaves once, whatever happens afterwards.
 * Must not know: channels, and how a message is delivered.
 */

import { basename, join } from 'node:path'
import { clipText } from '../domain/clean-summary.ts'
import { isCleanLabel } from '../domain/label.ts'
import { languageOf } from '../domain/language.ts'
import type { MessageFile } from '../domain/message.ts'
import type { Observation } from '../domain/observation.ts'
import { renderReply } from '../domain/reply-text.ts'
import { chatOf, frontSessionId, type ReplyTo, replyTargets } from '../domain/reply-to.ts'
import { dispatchEndOf } from '../domain/stop-reason.ts'
import { resultFiles } from '../domain/written-files.ts'
import type { Op } from '../ports/store.ts'
import type { RunEnd } from './commit.ts'
import type { ClaimedRun } from './run.ts'

/** At most this many files are sent with a reply; its text names all of them. */
const MAX_ATTACHED = 10
/** The sessions in front of the chats get the beginning of a long reply. */
const MAX_COPY = 8000

/** Contract: the operations that post the reply; none if the run belongs to no conversation. Changes nothing. */
export async function replyOps(run: ClaimedRun, next: RunEnd): Promise<readonly Op[]> {
  const targets = replyTargetsOf(run)
  if (targets.length === 0 || (run.thread.work.isPassedOn && next.stop_reason === 'final')) return []
  const files = await listResultFiles(run)
  const text = replyText(run, next, files)
  if (text === undefined) return []
  const { engine, dispatch, thread } = run
  const now = engine.clock.now()
  const id = `reply-${dispatch.dispatch_id}-${thread.head}`
  const attached = files.length === 0 ? {} : { files: files.slice(0, MAX_ATTACHED) }
  const posts = targets.flatMap((to, at): Op[] =>
    'session' in to
      ? []
      : [
          {
            op: 'post',
            message: { ...attached, id: `${id}-${at}`, ...chatOf(to), kind: 'reply', text },
            due: now,
            now,
          },
        ],
  )
  return [...posts, ...(await copiesToFront(run, targets, { id, text, status: endStatus(next) }))]
}

/** Where the answer of this run goes. */
export const replyTargetsOf = ({ thread, dispatch }: ClaimedRun): readonly ReplyTo[] =>
  replyTargets(thread.replyTo, dispatch)

const endStatus = ({ stop_reason, failure_class }: RunEnd): string => dispatchEndOf(stop_reason, failure_class).status

async function listResultFiles({ engine, thread, dispatch }: ClaimedRun): Promise<readonly MessageFile[]> {
  const results = resultFiles(thread.written, await engine.snapshots.filesMadeBy(dispatch.dispatch_id))
  if (results.length === 0) return []
  const { workspace = '' } = (await engine.store.session(dispatch.session_id)) ?? {}
  return results.map((path) => ({ name: basename(path), path: join(workspace, path), root: workspace }))
}

function replyText({ engine, thread }: ClaimedRun, next: RunEnd, files: readonly MessageFile[]): string | undefined {
  const owner = thread.userMessages.findLast(({ isOwner }) => isOwner)
  const language = languageOf(owner?.text ?? next.answer ?? '')
  const { stop_reason, failure_class, answer, error } = next
  const paths = files.map(({ path }) => path)
  const text = renderReply({ stop_reason, failure_class, answer, error, files: paths }, language)
  return text === undefined ? undefined : engine.secrets.hide(text)
}

/**
 * The sessions in front of the chats get the reply, too, so that they know what came of a message. It wakes none of
 * them.
 */
async function copiesToFront(
  { engine, dispatch, thread }: ClaimedRun,
  targets: readonly ReplyTo[],
  { id, text, status }: { readonly id: string; readonly text: string; readonly status: string },
): Promise<readonly Op[]> {
  const { session_id, dispatch_id } = dispatch
  const fronts = [...new Set(targets.map(frontSessionId))].filter((front) => front !== session_id)
  const known = await Promise.all(fronts.map((front) => engine.store.session(front)))
  const now = engine.clock.now()
  const label = isCleanLabel(thread.label) ? {} : { label: { ...thread.label } }
  const payload = { session: session_id, run: dispatch_id, status, text: clipText(text, MAX_COPY) }
  const observation: Observation = { id, type: 'system_event', name: 'reply', payload, ts: now, quiet: true, ...label }
  return fronts
    .filter((_, at) => known[at] !== undefined)
    .map((front) => ({ op: 'publish', session_id: front, observation, successor_id: id, now }))
}
