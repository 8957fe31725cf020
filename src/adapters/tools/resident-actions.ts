/**
 * The actions that end a look of a resident, and `learn`. They only express what the model wants: the behaviour acts on
 * it, and what is said leaves with the commit that ends the look.
 */

import { z } from 'zod'
import { LABEL_OF_OWN_OUTPUT } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadToolText, type ToolText } from '../../prompts/load-prompt.ts'

const MAX_TEXT = 8000
const MAX_VALUE = 1000

const spoken = z.strictObject({ text: z.string().trim().min(1).max(MAX_TEXT) })
const silent = z.strictObject({ reason: z.string().max(MAX_TEXT).optional() })
const slots = z.strictObject({ known: z.record(z.string().min(1).max(100), z.string().max(MAX_VALUE)) })

function action<A>(name: string, loadText: () => ToolText, args: z.ZodType<A>, done: string): AnyTool {
  return defineToolWithText<A>({
    name,
    loadText,
    args,
    effect: () => ({ recovery: 'pure', reach: 'none' }),
    gives: () => LABEL_OF_OWN_OUTPUT,
    run: async () => ({ status: 'ok', content: done }),
  })
}

export const residentTools = (): AnyTool[] => [
  action('noop', () => loadToolText('noop'), silent, 'nothing to do'),
  action('say', () => loadToolText('say'), spoken, 'said'),
  action('query', () => loadToolText('query'), spoken, 'asked'),
  action('learn', () => loadToolText('learn'), slots, 'noted'),
]
