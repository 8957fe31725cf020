/**
 * edit_state: replaces a passage or a section of STATE.md, never the runtime block. After a crash, the stored versions
 * of STATE.md show whether the edit took effect.
 */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { diffLines, linesWithBreaks } from '../../domain/diff.ts'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { replaceSection, type SectionEdit } from '../../domain/markdown-section.ts'
import { replacePlaceholders } from '../../domain/placeholder.ts'
import { changeOutsideBlock, hasBlockMark } from '../../domain/runtime-block.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { Documents } from '../../ports/documents.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadPrompt, loadToolText } from '../../prompts/load-prompt.ts'
import { replaceText, type TextReplacement } from './replace-text.ts'
import { asToolResult, toolError } from './tool-result.ts'

const args = z.strictObject({
  old: z.string().min(1).optional(),
  new: z.string().optional(),
  section: z.string().trim().min(1).optional(),
  text: z.string().optional(),
})
type Args = z.infer<typeof args>

/** Number of versions of STATE.md, latest first, that are searched for an edit after a crash. */
const MOST_VERSIONS = 1000
const EDITED: CallResult = { status: 'ok', content: 'edited STATE.md' }

const reasonOf = (call: string): string => `edit_state ${call}`
/** An agent named `owner` or `system` must not pass for a trusted author. */
const authorOf = (agent: string): string => (agent === 'owner' || agent === 'system' ? `agent ${agent}` : agent)

/** `seed`: the text that STATE.md gets if it does not exist yet. */
export const editState = (documents: Documents, seed: () => string, findHidden: Secrets['find']): AnyTool =>
  defineToolWithText<Args>({
    name: 'edit_state',
    loadText: () => loadToolText('edit_state'),
    args,
    effect: () => ({ recovery: 'reconcilable', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    run: (wanted, { call, origin, label }) =>
      asToolResult(async () => {
        let why: string | undefined
        const change = (outside: string): string => {
          const outcome = applyFilledEdit(outside, wanted, findHidden)
          why = outcome.kind === 'refused' ? outcome.why : undefined
          return outcome.kind === 'refused' ? outside : outcome.text
        }
        const by = { author: authorOf(origin.agent_id), reason: reasonOf(call), label }
        await documents.seed('STATE.md', seed())
        await documents.write('STATE.md', (now) => changeOutsideBlock(now, change), by)
        return why === undefined ? EDITED : toolError(`nothing was changed: ${why}`)
      }),
    async probe(_, __, { call }) {
      const versions = await documents.versions('STATE.md', MOST_VERSIONS)
      return versions.some(({ reason }) => reason === reasonOf(call))
        ? { kind: 'happened', result: EDITED }
        : { kind: 'not' }
    },
  })

/**
 * The model sees placeholders in the place of hidden texts of STATE.md, and writes them back. A line that is the same
 * again stays; another line with a hidden text cannot be written, because texts of agents are redacted.
 */
function applyFilledEdit(outside: string, wanted: Args, findHidden: Secrets['find']): TextReplacement | SectionEdit {
  const hidden = new Map(findHidden(outside).map(({ placeholder, text }) => [placeholder, text]))
  const fill = (text: string): string =>
    replacePlaceholders(text, (placeholder) =>
      outside.includes(placeholder) ? placeholder : (hidden.get(placeholder) ?? placeholder),
    )
  const outcome = applyEdit(outside, mapTexts(wanted, fill))
  if (outcome.kind === 'refused') return outcome
  const changes = diffLines(linesWithBreaks(outside), linesWithBreaks(outcome.text))
  const [rewritten] = findHidden(changes.flatMap(({ lines }) => lines).join(''))
  if (!rewritten) return outcome
  const { placeholder } = rewritten
  return { kind: 'refused', why: loadPrompt('results/placeholders.md#in_document', { placeholder }) }
}

const mapTexts = (args: Args, map: (text: string) => string): Args =>
  Object.fromEntries(Object.entries(args).map(([name, text]) => [name, text === undefined ? text : map(text)]))

function applyEdit(outside: string, { old, new: fresh, section, text }: Args): TextReplacement | SectionEdit {
  const refuse = (why: string): TextReplacement => ({ kind: 'refused', why })
  if ([old, fresh, section, text].some((one) => one?.includes('\0')))
    return refuse('STATE.md cannot contain a NUL character')
  if (hasBlockMark(`${fresh ?? ''}\n${section ?? ''}\n${text ?? ''}`))
    return refuse("the text contains a marker of the runtime's block; leave it out")
  if (old !== undefined && fresh !== undefined && section === undefined && text === undefined)
    return replaceText(outside, old, fresh, 'STATE.md', 'read it with read_state')
  if (section !== undefined && text !== undefined && old === undefined && fresh === undefined)
    return /[\r\n]/.test(section)
      ? refuse('a section heading must be one line')
      : replaceSection(outside, section, text)
  return refuse('give either old and new, or section and text')
}
