/** edit_state: a passage or a section of STATE.md replaced, never the runtime's own block. After a crash the versions tell whether it happened. */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { changedOutside, hasMark } from '../../domain/runtime-block.ts'
import { type Written, withSection } from '../../domain/section.ts'
import { OWN_WORDS } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { Documents } from '../../ports/documents.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { type Replaced, replaced } from './passage.ts'
import { failed, told } from './result.ts'

const args = z.strictObject({
  old: z.string().min(1).optional().describe('A passage that occurs once, exactly.'),
  new: z.string().optional(),
  section: z.string().trim().min(1).optional().describe('Or: a heading, new or there.'),
  text: z.string().optional().describe('What stands below it.'),
})
type Args = z.infer<typeof args>

/** Every version is kept that a crash could lie between. */
const LOOKED_AT = 1000
const EDITED: CallResult = { status: 'ok', content: 'edited STATE.md' }

const reasonOf = (call: string): string => `edit_state ${call}`
/** An agent that is called like somebody who is trusted is not him. */
const authorOf = (agent: string): string => (agent === 'owner' || agent === 'system' ? `agent ${agent}` : agent)

/** `seed`: what STATE.md begins with. */
export const editState = (documents: Documents, seed: () => string): AnyTool =>
  defineTool<Args>({
    name: 'edit_state',
    description: 'Changes STATE.md: a passage (old, new), or a section (section, text).',
    args,
    effect: () => ({ recovery: 'reconcilable', reach: 'none' }),
    gives: () => OWN_WORDS,
    run: (wanted, { call, origin, label }) =>
      told(async () => {
        let why: string | undefined
        const change = (outside: string): string => {
          const outcome = edited(outside, wanted)
          why = outcome.kind === 'refused' ? outcome.why : undefined
          return outcome.kind === 'refused' ? outside : outcome.text
        }
        const by = { author: authorOf(origin.agent_id), reason: reasonOf(call), label }
        await documents.seed('STATE.md', seed())
        await documents.write('STATE.md', (now) => changedOutside(now, change), by)
        return why === undefined ? EDITED : failed(`nothing was changed: ${why}`)
      }),
    async probe(_, __, { call }) {
      const versions = await documents.versions('STATE.md', LOOKED_AT)
      return versions.some(({ reason }) => reason === reasonOf(call))
        ? { kind: 'happened', result: EDITED }
        : { kind: 'not' }
    },
  })

function edited(outside: string, { old, new: fresh, section, text }: Args): Replaced | Written {
  const refuse = (why: string): Replaced => ({ kind: 'refused', why })
  if ([old, fresh, section, text].some((one) => one?.includes('\0'))) return refuse('STATE.md holds no NUL')
  if (hasMark(`${fresh ?? ''}\n${section ?? ''}\n${text ?? ''}`))
    return refuse("the marks of the runtime's block are the runtime's")
  if (old !== undefined && fresh !== undefined && section === undefined && text === undefined)
    return replaced(outside, old, fresh, 'STATE.md', 'read it with read_state')
  if (section !== undefined && text !== undefined && old === undefined && fresh === undefined)
    return /[\r\n]/.test(section) ? refuse('a heading is one line') : withSection(outside, section, text)
  return refuse('give either old and new, or section and text')
}
