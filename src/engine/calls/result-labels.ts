/**
 * Labels of call results, and of the workspaces that calls write to (I12).
 * Must not know: the consequences of a label. They belong to policy.
 */

import type { CallResult } from '../../domain/decision.ts'
import { type Effect, writesWorkspace } from '../../domain/effect.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import {
  CLEAN_LABEL,
  CLOSED_LABEL,
  closedKey,
  isCleanLabel,
  type Label,
  lowestLabel,
  type ResultLabel,
  UNTRUSTED_LABEL,
} from '../../domain/label.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { askPlugin } from '../plugins/ask-plugin.ts'
import { resultLabelPort } from '../plugins/tool-shapes.ts'
import type { Run } from '../run.ts'
import type { IntendedCall, OpenTurn } from '../session/session-thread.ts'

/** The label fields of a `call_settled` record. */
export type RecordedLabel = Pick<Extract<JournalRecord, { kind: 'call_settled' }>, 'label' | 'outside'>

/**
 * The label of a result: the lowest of the content's label and the session's label, because a tool may repeat its
 * arguments. The result of a call that never started is the engine's own text; its label is that of the gate's reason.
 */
export function labelResult(run: Run, { intended }: OpenTurn, index: number, result: CallResult): RecordedLabel {
  const call = intended.get(index)
  if (!call) return labelOfReason(run, result)
  const declared = labelInFacts(result) ?? declaredLabel(run.engine.tools.get(call.call.tool), call)
  const contentLabel = labelOfContent(run, declared)
  const label = lowestLabel(labelOfFilled(run, call), lowestLabel(contentLabel, lowestByReach(call.effect)))
  // Only content that is declared untrusted is shown in a data fence.
  const isOutside = declared !== undefined && contentLabel.trust === 'untrusted'
  return { ...(isCleanLabel(label) ? {} : { label }), ...(isOutside ? { outside: true } : {}) }
}

function labelOfReason({ thread }: Run, result: CallResult): RecordedLabel {
  const label = labelInFacts(result)
  return label === undefined || isCleanLabel(label) ? {} : { label: lowestLabel(thread.label, label) }
}

/** The label that the tool determined while it ran and stored in the facts of its result. */
function labelInFacts({ facts }: CallResult): Label | undefined {
  const { label } = (facts ?? {}) as { readonly label?: Label }
  return label
}

function declaredLabel(tool: AnyTool | undefined, { call: { args } }: IntendedCall): ResultLabel | undefined {
  try {
    return tool?.gives && askPlugin(resultLabelPort(tool.name), () => tool.gives?.(args as never))
  } catch {
    return UNTRUSTED_LABEL
  }
}

/** A tool without a declared label may return anything, so its content is untrusted. */
const labelOfContent = (run: Run, declared: ResultLabel | undefined): Label =>
  declared === undefined ? UNTRUSTED_LABEL : resolveLabel(run, declared)

function resolveLabel({ workspace }: Run, { trust, private: isPrivate }: ResultLabel): Label {
  if (trust !== 'workspace') return { trust, private: isPrivate }
  return { ...workspace.label, private: workspace.label.private || isPrivate }
}

/** Private content stays private and network content untrusted, whatever the tool declares. */
function lowestByReach({ reach }: Effect): Label {
  if (reach === 'private') return { trust: 'untrusted', private: true }
  return reach === 'network' ? UNTRUSTED_LABEL : CLEAN_LABEL
}

/** The session's label; private if hidden texts were filled into the call. */
const labelOfFilled = ({ thread }: Run, call: Pick<IntendedCall, 'filled'>): Label => ({
  trust: thread.label.trust,
  private: thread.label.private || call.filled === true,
})

/** The label of what a call can pass on: a command can read all files of the workspace. */
export function labelOfCall(run: Run, tool: AnyTool, call: Pick<IntendedCall, 'filled'>): Label {
  return tool.runsCommands === true && run.workspace.isClosed ? CLOSED_LABEL : labelOfFilled(run, call)
}

/**
 * Lowers the workspace's label before a write, to the lowest of its own label, the session's label and the label of the
 * content that the call writes. The new label is stored in the commit of the intent.
 */
export function taintWorkspace(run: Run, intended: IntendedCall): void {
  const { workspace } = run
  if (!writesWorkspace(intended.effect)) return
  if (intended.filled === true && !workspace.isClosed) {
    workspace.isClosed = true
    run.pendingOps.push({ op: 'label', of: closedKey(workspace.folder), label: CLOSED_LABEL })
  }
  const contentLabel = labelOfContent(run, declaredLabel(run.engine.tools.get(intended.call.tool), intended))
  const label = lowestLabel(workspace.label, lowestLabel(labelOfFilled(run, intended), contentLabel))
  if (label.trust === workspace.label.trust && label.private === workspace.label.private) return
  workspace.label = label
  run.pendingOps.push({ op: 'label', of: workspace.key, label })
}
