/**
 * One call of each recovery class, all running when the program is killed: the same tasks and the same model before and
 * after.
 */

import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { toolCall, toolSearch } from '../support/mcp-homes.ts'

/** By tool name, which is also the argument of its call. */
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

export const isRequestFor = (request: ModelRequest, tool: Tool): boolean =>
  JSON.stringify(request.messages).includes(taskFor(tool))

export const modelOfAllTasks = (): ScriptedModel =>
  scriptedModel((request, turn) => {
    const tool = TOOLS.find((one) => isRequestFor(request, one))
    return [toolSearch('act'), toolCall(`a__${tool}`, { what: tool ?? '' })][turn] ?? { text: 'finished' }
  })
