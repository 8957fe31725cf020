/**
 * Labels of what calls bring, and of what they leave behind (I12).
 * Must not know: what follows from a label. That is policy.
 */

import type { CallResult } from '../domain/decision.ts'
import { type Effect, writesWorkspace } from '../domain/effect.ts'
import type { JournalRecord } from '../domain/record.ts'
import { CLEAN, type Given, isClean, type Label, lowest, UNTRUSTED } from '../domain/trust.ts'
import type { AnyTool } from '../ports/tool.ts'
import { askPlugin } from './ask-plugin.ts'
import { givenPort } from './return-shapes.ts'
import type { Run } from './run.ts'
import type { Intended, OpenTurn } from './thread.ts'

/** As it stands in the record. */
export type Worth = Pick<Extract<JournalRecord, { kind: 'call_settled' }>, 'label' | 'outside'>

/**
 * What the result of a call is worth: no more than what was read, and no more than what the session had read when it asked: the tool may say its
 * arguments again. A call that never began brings nothing but the engine's own words.
 */
export function worthOf(run: Run, { intended }: OpenTurn, index: number, result: CallResult): Worth {
  if (run.engine.replaying) return run.engine.replaying.worth(index)
  const call = intended.get(index)
  if (!call) return {}
  const said = ownLabel(result) ?? givenBy(run.engine.tools.get(call.call.tool), call)
  const read = readBy(run, said)
  const label = lowest(run.thread.label, lowest(read, byReach(call.effect)))
  // One that says nothing may say what it likes; what is known to be others' words is shown as such.
  const isOutside = said !== undefined && read.trust === 'untrusted'
  return { ...(isClean(label) ? {} : { label }), ...(isOutside ? { outside: true } : {}) }
}

/** What a tool only knows when it has looked. */
function ownLabel({ facts }: CallResult): Label | undefined {
  const { label } = (facts ?? {}) as { readonly label?: Label }
  return label
}

function givenBy(tool: AnyTool | undefined, { call: { args } }: Intended): Given | undefined {
  try {
    return tool?.gives && askPlugin(givenPort(tool.name), () => tool.gives?.(args as never))
  } catch {
    return UNTRUSTED
  }
}

/** Who does not say what it gives may give anything. */
const readBy = (run: Run, said: Given | undefined): Label => (said === undefined ? UNTRUSTED : resolved(run, said))

function resolved({ workspace }: Run, { trust, private: isPrivate }: Given): Label {
  if (trust !== 'workspace') return { trust, private: isPrivate }
  return { ...workspace.label, private: workspace.label.private || isPrivate }
}

/** What is private stays so, and what comes over a network is not trusted, whatever the tool says. */
function byReach({ reach }: Effect): Label {
  if (reach === 'private') return { trust: 'untrusted', private: true }
  return reach === 'network' ? UNTRUSTED : CLEAN
}

/**
 * A workspace is worth no more than what is written there: by a session that has read something from outside, or by a call that brings it. Marked in
 * the commit of the intent.
 */
export function stain(run: Run, intended: Intended): void {
  const { workspace, thread } = run
  if (!writesWorkspace(intended.effect) || run.engine.replaying) return
  const brought = readBy(run, givenBy(run.engine.tools.get(intended.call.tool), intended))
  const label = lowest(workspace.label, lowest(thread.label, brought))
  if (label.trust === workspace.label.trust && label.private === workspace.label.private) return
  workspace.label = label
  run.alongside.push({ op: 'label', of: workspace.key, label })
}
