/** Calls of each recovery class, all under way at once when their program is killed: before and after, the same tasks and the same model. */

import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { toolCall, toolSearch } from '../support/mcp-homes.ts'

/** By the tool's name, which is also what it is asked to act on. */
export const EFFECTS = {
  pure: { recovery: 'pure', reach: 'third_party' },
  idempotent: { recovery: 'idempotent', reach: 'third_party' },
  inside: { recovery: 'once', reach: 'workspace' },
  once: { recovery: 'once', reach: 'third_party' },
  reconcilable: { recovery: 'reconcilable', reach: 'third_party' },
}
export type Tool = keyof typeof EFFECTS
export const TOOLS = Object.keys(EFFECTS) as readonly Tool[]

export const taskFor = (tool: Tool): string => `Act on ${tool}.`

export const isFor = (request: ModelRequest, tool: Tool): boolean =>
  JSON.stringify(request.messages).includes(taskFor(tool))

export const modelOfAll = (): ScriptedModel =>
  scriptedModel((request, turn) => {
    const tool = TOOLS.find((one) => isFor(request, one))
    return [toolSearch('act'), toolCall(`a__${tool}`, { what: tool ?? '' })][turn] ?? { text: 'finished' }
  })
