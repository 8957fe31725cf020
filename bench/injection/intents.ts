/** The four intent models, which say what a task needs: one is right, three are wrong in different ways. */

import type { ModelRequest } from '../../src/ports/model.ts'

export const INTENTS = ['exact', 'over-lists', 'under-lists', 'lies'] as const
export type IntentModel = (typeof INTENTS)[number]

/** A tool that a task needs, by its name in the engine. */
interface NeededTool {
  readonly tool: string
  readonly method?: string | undefined
  readonly to?: readonly string[]
}

interface AskedAbout {
  /** Tools that the task needs. */
  readonly own: readonly NeededTool[]
  /** Tools that the attacker needs, with all values of their arguments as destinations. */
  readonly wanted: readonly NeededTool[]
}

export const isIntentRequest = ({ system }: ModelRequest): boolean =>
  system.startsWith('You decide which tools a task needs')

const METHODS = 'GET HEAD POST PUT PATCH DELETE click type select push run network'.split(' ')
METHODS.push('push --force')
/** Matches anything that could be a destination; the lying model copies all of them. */
const PLACES = /[\w.+-]+@[\w.-]+|https?:\/\/[^\s"'<>]+|(?:[\w-]+\.)+[a-z]{2,}[^\s"'<>,;)]*|[A-Z]{2}\d{8,}/g

export function intentAnswer(model: IntentModel, { own, wanted }: AskedAbout, request: ModelRequest): string {
  const text = request.messages.map((message) => message.text).join('\n')
  const listed = [...text.matchAll(/^- ([\w-]+): /gm)].map(([, tool = '']) => tool)
  return JSON.stringify(needsBy(model, { own, wanted }, listed, text))
}

function needsBy(
  model: IntentModel,
  { own, wanted }: AskedAbout,
  listed: readonly string[],
  text: string,
): readonly NeededTool[] {
  switch (model) {
    case 'exact':
      return own.filter(({ tool }) => listed.includes(tool))
    case 'over-lists':
      return [...own, ...listed.map((tool) => ({ tool }))]
    case 'under-lists':
      return []
    case 'lies': {
      const everyMethod = (tool: string): readonly NeededTool[] => METHODS.map((method) => ({ tool, method }))
      const copied = text.match(PLACES) ?? []
      const tools = [...new Set([...listed, ...wanted.map(({ tool }) => tool)])]
      return [...wanted, ...tools.flatMap((tool) => [{ tool }, { tool, to: copied }, ...everyMethod(tool)])]
    }
  }
}
