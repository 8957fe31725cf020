/** browser: a Chromium for pages that need scripts. One page at a time; when the run ends, its profile is deleted. */

import { z } from 'zod'
import {
  type Address,
  formatHostPort,
  type HostPort,
  parseHostPort,
  parseHttpAddress,
} from '../../../domain/address.ts'
import type { CallResult } from '../../../domain/decision.ts'
import type { Effect } from '../../../domain/effect.ts'
import { TirelessError } from '../../../domain/error.ts'
import { UNTRUSTED_LABEL } from '../../../domain/label.ts'
import { withDeadline } from '../../../ports/deadline.ts'
import { defineToolWithText } from '../../../ports/define-tool.ts'
import type { Env } from '../../../ports/env.ts'
import type { AnyTool, ToolContext } from '../../../ports/tool.ts'
import { loadToolText } from '../../../prompts/load-prompt.ts'
import { webAddress } from '../fetch.ts'
import { asToolResult, toolError } from '../tool-result.ts'
import { BrowserSession } from './browser-session.ts'
import type { BrowserLaunch } from './launch-chromium.ts'

const ACTIONS = ['open', 'read', 'click', 'type', 'select', 'back', 'screenshot', 'close'] as const
/** Time limit of one action, in ms. */
const MOST_MS = 40_000
/** Required arguments of each action. */
const REQUIRED: Readonly<Record<string, readonly (keyof Args)[]>> = {
  open: ['url'],
  click: ['host', 'element'],
  type: ['host', 'element', 'text'],
  select: ['host', 'element', 'text'],
  back: ['host'],
}

const shape = z.strictObject({
  action: z.enum(ACTIONS),
  url: webAddress.optional(),
  host: z.string().optional(),
  element: z.int().min(1).optional(),
  text: z.string().optional(),
  enter: z.boolean().optional(),
  save_to: z.string().optional(),
})
type Args = z.infer<typeof shape>

const args = shape.superRefine((value, context) => {
  for (const name of REQUIRED[value.action] ?? [])
    if (value[name] === undefined)
      context.addIssue({ code: 'custom', path: [name], message: `${value.action} needs ${name}` })
  if (value.host !== undefined && parseHostPort(value.host, 443).kind === 'refused')
    context.addIssue({ code: 'custom', path: ['host'], message: 'expected the host of the current page, as shown' })
})

export function browser(launching: BrowserLaunch): AnyTool {
  /** The browser of each run; the key is the env of the run. */
  const sessions = new Map<Env, Promise<BrowserSession>>()
  const close = async (env: Env): Promise<void> => {
    const session = sessions.get(env)
    sessions.delete(env)
    await (await session?.catch(() => undefined))?.close()
  }
  return defineToolWithText<Args>({
    name: 'browser',
    loadText: () => loadToolText('browser'),
    args,
    needs: ['file'],
    effect: effectOf,
    gives: () => UNTRUSTED_LABEL,
    destinations: (wanted) => {
      if (wanted.action === 'open') return [addressIn(wanted.url ?? '').url]
      const host = hostOf(wanted)
      return host === undefined ? [] : [host]
    },
    // Typed text counts as sent, because the page can read it at once.
    content: ({ action, text = '' }) => (action === 'type' || action === 'select' ? [text] : []),
    refuses: ({ action, url = '' }) => (action === 'open' ? launching.egress.refusal(placeIn(url)) : undefined),
    async run(wanted, context) {
      const leave = (): void => void close(context.env)
      context.signal.addEventListener('abort', leave, { once: true })
      try {
        return await asToolResult(() =>
          withTimeLimit(context, () => perform(launching, sessions, close, wanted, context), leave),
        )
      } finally {
        context.signal.removeEventListener('abort', leave)
      }
    },
    remains: async () => 'The browser was closed by the restart; no page is open.',
    teardown: ({ env }) => close(env),
  })
}

function hostOf({ action, url, host }: Args): string | undefined {
  if (action === 'open') {
    const read = parseHttpAddress(url ?? '')
    return read.kind === 'read' ? formatHostPort(read.value) : undefined
  }
  return REQUIRED[action] === undefined ? undefined : formatHostPort(parseHost(host ?? ''))
}

/** Does not throw for arguments that passed the schema: it has already refused invalid hosts. */
function parseHost(host: string): HostPort {
  const read = parseHostPort(host, 443)
  if (read.kind === 'read') return read.value
  throw new TirelessError('tool_failed', read.why)
}

function effectOf(wanted: Args): Effect {
  const host = hostOf(wanted)
  const { action } = wanted
  if (host !== undefined)
    return action === 'open' || action === 'back'
      ? { recovery: 'once', reach: 'network', host }
      : { recovery: 'once', reach: 'third_party', host, method: action }
  return wanted.action === 'screenshot'
    ? { recovery: 'idempotent', reach: 'workspace' }
    : { recovery: 'pure', reach: 'none' }
}

async function perform(
  launching: BrowserLaunch,
  sessions: Map<Env, Promise<BrowserSession>>,
  close: (env: Env) => Promise<void>,
  wanted: Args,
  { env, ops }: ToolContext,
): Promise<CallResult> {
  const { action, url = '', save_to = 'screenshot.png' } = wanted
  if (action === 'close') {
    await close(env)
    return { status: 'ok', content: 'closed' }
  }
  if ((await sessions.get(env))?.isOver) await close(env)
  if (action === 'open' && !sessions.has(env))
    sessions.set(
      env,
      launchSession(launching, () => sessions.delete(env)),
    )
  const session = await sessions.get(env)
  if (!session) return toolError('no page is open; use the action open first')
  if (action === 'screenshot') {
    const bytes = await session.screenshot()
    await ops('file').write(save_to, bytes, null)
    return { status: 'ok', content: `saved to ${save_to} (${bytes.length} bytes)` }
  }
  if (action === 'open') await session.open(url, placeIn(url))
  else if (action !== 'read') await useElement(session, wanted)
  return { status: 'ok', content: await session.read() }
}

/** Closes the browser after MOST_MS: some of its operations never end if a page script never ends. */
function withTimeLimit<T>({ clock }: ToolContext, work: () => Promise<T>, giveUp: () => void): Promise<T> {
  return withDeadline({ clock, ms: MOST_MS }, work, (): never => {
    giveUp()
    throw new TirelessError('tool_failed', 'the page did not answer, so the browser was closed; open another page')
  })
}

/** Calls `forget` if the launch fails, so that the next call tries again. */
function launchSession(launching: BrowserLaunch, forget: () => void): Promise<BrowserSession> {
  const session = BrowserSession.launch(launching)
  session.catch(forget)
  return session
}

const placeIn = (url: string): HostPort => addressIn(url)

function addressIn(url: string): Address {
  const read = parseHttpAddress(url)
  if (read.kind === 'read') return read.value
  throw new TirelessError('tool_failed', read.why)
}

async function useElement(
  session: BrowserSession,
  { action, host = '', element = 0, text = '', enter = false }: Args,
): Promise<void> {
  const { place } = session
  const shown = place && formatHostPort(place)
  // Policy allowed the call for the named host, so the page must be on that host.
  if (!place || shown !== formatHostPort(parseHost(host)))
    throw new TirelessError('tool_failed', `nothing was done: the page is on ${shown ?? 'no host'}, not on ${host}`)
  if (action === 'back') return session.back(place)
  return session.use(element, place, async (handle) => {
    if (action === 'click') return handle.click()
    if (action === 'select') return handle.selectOption({ label: text })
    await handle.fill(text)
    return enter ? handle.press('Enter') : undefined
  })
}
