/** browser: a real Chromium for pages that are more than text. One page at a time, one profile for each run, nothing of it outlives the run. */

import { z } from 'zod'
import { type Address, addressOf, type Place, placeOf, placeText } from '../../../domain/address.ts'
import type { CallResult } from '../../../domain/decision.ts'
import type { Effect } from '../../../domain/effect.ts'
import { TirelessError } from '../../../domain/error.ts'
import { UNTRUSTED } from '../../../domain/trust.ts'
import { defineTool } from '../../../ports/define-tool.ts'
import type { Env } from '../../../ports/env.ts'
import type { AnyTool, ToolContext } from '../../../ports/tool.ts'
import { webAddress } from '../fetch.ts'
import { failed, told } from '../result.ts'
import type { Launching } from './launch.ts'
import { BrowserSession } from './session.ts'

const ACTIONS = ['open', 'read', 'click', 'type', 'select', 'back', 'screenshot', 'close'] as const
/** One action, with all that it waits for. */
const MOST_MS = 40_000
/** What each of them cannot do without. */
const NEEDED: Readonly<Record<string, readonly (keyof Args)[]>> = {
  open: ['url'],
  click: ['host', 'element'],
  type: ['host', 'element', 'text'],
  select: ['host', 'element', 'text'],
  back: ['host'],
}

const shape = z.strictObject({
  action: z.enum(ACTIONS).describe('What to do.'),
  url: webAddress.optional().describe('open: http(s)://…'),
  host: z.string().optional().describe('click, type, select, back: the host that the page is on, as it says.'),
  element: z.int().min(1).optional().describe('click, type, select: its number, as last read.'),
  text: z.string().optional().describe('type: what replaces its text. select: the option.'),
  enter: z.boolean().optional().describe('type: press Enter afterwards.'),
  save_to: z.string().optional().describe('screenshot: a new file.'),
})
type Args = z.infer<typeof shape>

const args = shape.superRefine((value, context) => {
  for (const name of NEEDED[value.action] ?? [])
    if (value[name] === undefined)
      context.addIssue({ code: 'custom', path: [name], message: `${value.action} needs ${name}` })
  if (value.host !== undefined && placeOf(value.host, 443).kind === 'refused')
    context.addIssue({ code: 'custom', path: ['host'], message: 'expected a host, as the page says it' })
})

export function browser(launching: Launching): AnyTool {
  /** By the env of the run that it belongs to. */
  const sessions = new Map<Env, Promise<BrowserSession>>()
  const close = async (env: Env): Promise<void> => {
    const session = sessions.get(env)
    sessions.delete(env)
    await (await session?.catch(() => undefined))?.close()
  }
  return defineTool<Args>({
    name: 'browser',
    description:
      'A browser. Every action but close shows the page, its elements numbered. Prefer fetch for plain reading.',
    args,
    needs: ['file'],
    effect: effectOf,
    gives: () => UNTRUSTED,
    destinations: (wanted) => {
      if (wanted.action === 'open') return [addressIn(wanted.url ?? '').url]
      const host = hostOf(wanted)
      return host === undefined ? [] : [host]
    },
    // What is typed is told to the page at once.
    content: ({ action, text = '' }) => (action === 'type' || action === 'select' ? [text] : []),
    refuses: ({ action, url = '' }) => (action === 'open' ? launching.egress.refusal(placeIn(url)) : undefined),
    async run(wanted, context) {
      const leave = (): void => void close(context.env)
      context.signal.addEventListener('abort', leave, { once: true })
      try {
        return await told(() => inTime(context, () => done(launching, sessions, close, wanted, context), leave))
      } finally {
        context.signal.removeEventListener('abort', leave)
      }
    },
    remains: async () => 'The browser went with the program; no page is open any more.',
    teardown: ({ env }) => close(env),
  })
}

function hostOf({ action, url, host }: Args): string | undefined {
  if (action === 'open') {
    const read = addressOf(url ?? '')
    return read.kind === 'read' ? placeText(read.value) : undefined
  }
  return NEEDED[action] === undefined ? undefined : placeText(aimOf(host ?? ''))
}

/** Whoever has come so far has been read already. */
function aimOf(host: string): Place {
  const read = placeOf(host, 443)
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

async function done(
  launching: Launching,
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
      opened(launching, () => sessions.delete(env)),
    )
  const session = await sessions.get(env)
  if (!session) return failed('no page is open; open one')
  if (action === 'screenshot') {
    const bytes = await session.screenshot()
    await ops('file').write(save_to, bytes, null)
    return { status: 'ok', content: `saved to ${save_to} (${bytes.length} bytes)` }
  }
  if (action === 'open') await session.open(url, placeIn(url))
  else if (action !== 'read') await used(session, wanted)
  return { status: 'ok', content: await session.read() }
}

/** Some of what is asked of a page has no limit of its own: a script that never ends would be waited for as long. */
async function inTime<T>({ clock }: ToolContext, work: () => Promise<T>, giveUp: () => void): Promise<T> {
  const over = new AbortController()
  const done = work()
  const late = clock.sleep(MOST_MS, over.signal).then((): never => {
    if (!over.signal.aborted) giveUp()
    throw new TirelessError('tool_failed', 'the page did not answer, so the browser was closed; open another page')
  })
  // Whichever comes second, nobody hears of it any more.
  for (const one of [done, late]) one.catch(() => {})
  try {
    return await Promise.race([done, late])
  } finally {
    over.abort()
  }
}

/** One that does not start is not kept. */
function opened(launching: Launching, forget: () => void): Promise<BrowserSession> {
  const session = BrowserSession.launch(launching)
  session.catch(forget)
  return session
}

const placeIn = (url: string): Place => addressIn(url)

function addressIn(url: string): Address {
  const read = addressOf(url)
  if (read.kind === 'read') return read.value
  throw new TirelessError('tool_failed', read.why)
}

async function used(
  session: BrowserSession,
  { action, host = '', element = 0, text = '', enter = false }: Args,
): Promise<void> {
  const { place } = session
  const shown = place && placeText(place)
  // What policy was asked about is the host that was named.
  if (!place || shown !== placeText(aimOf(host)))
    throw new TirelessError('tool_failed', `the page is on ${shown ?? 'no host'}, not on ${host}; nothing was done`)
  if (action === 'back') return session.back(place)
  return session.use(element, place, async (handle) => {
    if (action === 'click') return handle.click()
    if (action === 'select') return handle.selectOption({ label: text })
    await handle.fill(text)
    return enter ? handle.press('Enter') : undefined
  })
}
