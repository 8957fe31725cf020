/** route: decides who answers a message: an existing session, a new one, or the agent itself at once. */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { MessageRouter } from '../../ports/message-router.ts'
import type { AnyTool, ToolContext } from '../../ports/tool.ts'
import { loadPrompt, loadToolText } from '../../prompts/load-prompt.ts'
import { asToolResult, toolError } from './tool-result.ts'

const args = z.strictObject({
  session: z.string().trim().min(1).optional(),
  new: z.union([z.literal(true), z.string().trim().min(1)]).optional(),
  none: z.literal(true).optional(),
  reply: z.string().trim().min(1).max(8000).optional(),
})
type RouteArgs = z.infer<typeof args>

export const route = (router: MessageRouter): AnyTool =>
  defineToolWithText<RouteArgs>({
    name: 'route',
    loadText: () => loadToolText('route'),
    args,
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    gives: () => CLEAN_LABEL,
    destinations: () => [],
    content: () => [],
    run: (given, context) => asToolResult(() => routeTurn(router, given, context)),
  })

async function routeTurn(router: MessageRouter, given: RouteArgs, context: ToolContext): Promise<CallResult> {
  const { session, new: created, none, reply } = given
  const chosen = [session, created, none].filter((choice) => choice !== undefined)
  if (chosen.length !== 1)
    return toolError(loadPrompt('results/route.md#choose_one', { got: Object.keys(given).join(', ') || 'nothing' }))
  const turn = { call: context.call, origin: context.origin }
  if (session !== undefined) {
    if (reply !== undefined) return toolError(loadPrompt('results/route.md#no_reply'))
    const { dispatch_id } = await router.toSession(turn, session)
    return routed(loadPrompt('results/route.md#to_session', { session }), {
      ...{ to: 'session', session_id: session },
      ...(dispatch_id === null ? {} : { dispatch_id }),
    })
  }
  if (created !== undefined) {
    const made = await router.toNewSession(turn, created === true ? undefined : created)
    return routed(loadPrompt('results/route.md#to_new', { session: made.session_id }), {
      ...{ to: 'new', ...made },
      ...(reply === undefined ? {} : { reply }),
    })
  }
  if (reply === undefined) return toolError(loadPrompt('results/route.md#needs_reply'))
  await router.ensureOpen(turn)
  return routed(loadPrompt('results/route.md#answered'), { to: 'none', reply })
}

const routed = (content: string, facts: Readonly<Record<string, Json>>): CallResult => ({
  status: 'ok',
  content,
  facts: { routed: facts },
})
