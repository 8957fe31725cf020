/** A run as a file to download: one page that needs nothing else, or its trace as JSON. */

import type { Context as HonoContext } from 'hono'
import type { CommandContext } from '../commands/lib/context.ts'
import { readTrace } from '../commands/trace.ts'
import { exportHtml } from '../trace/export.ts'
import { promptsFromEvents } from '../trace/trace-prompts.ts'
import type { HonoEnv } from './middleware.ts'

/** Contract: `?run=ID`, the whole id, and `format=json` for JSON. Always an attachment: no browser runs it here. */
export async function sendTrace(
  c: HonoContext<HonoEnv>,
  context: Pick<CommandContext, 'redact' | 'store'>,
): Promise<Response> {
  const { run = '', format } = c.req.query()
  const { torn: _, ...trace } = await readTrace(context, run)
  const isJson = format === 'json'
  const body = isJson
    ? JSON.stringify({ ...trace, prompts: promptsFromEvents(trace.events) }, null, 2)
    : exportHtml(trace)
  const name = `run-${run.replaceAll(/[^\w-]/g, '_')}.${isJson ? 'json' : 'html'}`
  return c.body(body, 200, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
  })
}
