/** Saves the form of an agent: each field is tried first, so that what is wrong is said beside it. */

import { ApiError, runCommand } from '../api.ts'
import type { AgentDetails } from '../api-types.ts'
import {
  type AgentChange,
  type AgentDraft,
  changedFields,
  changeOf,
  draftOf,
  type FieldName,
  isPlainlyWrong,
} from './draft.ts'

/** The server's own words on a field; empty: the field is wrong at first sight. */
export type FieldErrors = Readonly<Partial<Record<FieldName, string>>>

type SaveOutcome =
  | { readonly kind: 'saved' }
  | { readonly kind: 'wrong'; readonly errors: FieldErrors }
  /** The owner has to agree to a schedule that costs much. */
  | { readonly kind: 'often' }
  /** The agent was changed elsewhere. */
  | { readonly kind: 'conflict' }

/** Contract: nothing is saved unless all of it is; rejects with what concerns no single field. */
export async function saveDraft(base: AgentDetails, draft: AgentDraft, isAgreed: boolean): Promise<SaveOutcome> {
  const names = changedFields(draft, draftOf(base))
  const tried = await Promise.all(names.map((name) => tryField(base.agent_id, draft, name)))
  const errors = Object.fromEntries(
    names.flatMap((name, at) => (typeof tried[at] === 'string' ? [[name, tried[at]]] : [])),
  )
  if (Object.keys(errors).length > 0) return { kind: 'wrong', errors }
  if (tried.includes(true) && !isAgreed) return { kind: 'often' }
  const change: AgentChange = Object.assign({}, ...names.map((name) => changeOf(draft, name)))
  try {
    if (names.length > 0)
      await runCommand('agent edit', { id: base.agent_id, ...change, revision: base.revision, yes: isAgreed })
    return { kind: 'saved' }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'conflict') return { kind: 'conflict' }
    if (thrown instanceof ApiError && thrown.code === 'confirmation_needed') return { kind: 'often' }
    throw thrown
  }
}

/** Contract: what is wrong with the field; otherwise whether the owner has to agree. */
async function tryField(id: string, draft: AgentDraft, name: FieldName): Promise<string | boolean> {
  if (isPlainlyWrong(draft, name)) return ''
  try {
    const { needs_yes } = await runCommand('agent edit', { id, ...changeOf(draft, name), dry_run: true })
    return needs_yes !== null && needs_yes !== undefined
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code !== 'unauthorized') return reasonOf(thrown)
    throw thrown
  }
}

function reasonOf({ parts: { what, got, expected } }: ApiError): string {
  return [what, got, expected].filter((part) => part !== undefined).join(' · ')
}
