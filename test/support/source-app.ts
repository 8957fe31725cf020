/** An app with sources and a resident `ear` that listens to all of them, and what the resident has been told. */

import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import type { App, AppOptions } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Json } from '../../src/domain/json.ts'
import { CLEAN_LABEL, type Label } from '../../src/domain/label.ts'
import type { Bus, BusObservation } from '../../src/ports/bus.ts'
import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import { signBody } from '../../src/ports/signed-request.ts'
import type { SourceState } from '../../src/ports/source.ts'
import { type HttpApp, type HttpResponse, openHttpApp, sendRequest } from './http-app.ts'
import { freshFolder, waitUntil } from './open-app.ts'

export const SECRET = 'the secret of the source'

export interface PublishedEvent {
  readonly id: string
  readonly observation: BusObservation
  readonly label: Label
}

export interface SourceApp extends HttpApp {
  readonly heard: readonly PublishedEvent[]
  readonly slices: ReadonlyMap<string, Json>
  /** While true, the resident has too many unread observations. */
  full: boolean
  state(name: string): Promise<SourceState>
  stop(): Promise<unknown>
}

/** Notes what reaches the bus, and can make it look full. */
function listeningPlugin(bus: { heard: PublishedEvent[]; slices: Map<string, Json>; full: boolean }): Plugin {
  return definePlugin({
    name: 'listening',
    needs: ['bus'],
    setup(host) {
      const real = host.get('bus')
      const { publish, setSlice } = real
      const publishTo: Bus['publish'] = async (sent) => {
        if (bus.full) throw new TirelessError('bus_full', 'ear has too many unread observations')
        const { duplicate } = await publish.call(real, sent)
        const { id, observation, label = CLEAN_LABEL } = sent
        if (!duplicate) bus.heard.push({ id, observation, label })
        return { duplicate }
      }
      const setSliceOf: Bus['setSlice'] = (agents, name, value) => {
        bus.slices.set(name, value)
        setSlice.call(real, agents, name, value)
      }
      Object.assign(real, { publish: publishTo, setSlice: setSliceOf })
    },
  })
}

/** Contract: the sources run when it resolves. `more`: other keys of the configuration. */
export async function openSourceApp(
  t: TestContext,
  sources: Readonly<Record<string, object>>,
  given: AppOptions & { readonly more?: object; readonly before?: SourceApp } = {},
): Promise<SourceApp> {
  const { more = {}, before, ...options } = given
  const bus = { heard: [...(before?.heard ?? [])], slices: new Map<string, Json>(), full: false }
  const home = options.home ?? before?.home ?? freshFolder(t)
  const residents = [{ agent_id: 'ear', sources: Object.keys(sources) }]
  const yaml = stringify({ sandbox: 'off', server: { port: 0 }, residents, sources, ...more })
  const drain = new AbortController()
  const signals = { drain: drain.signal, abort: new AbortController().signal }
  // Before the app is opened, so that the kernel stops before the app is closed.
  t.after(() => drain.abort())
  const opened = await openHttpApp(t, {
    ...options,
    home,
    yaml,
    signals,
    plugins: [listeningPlugin(bus), ...(options.plugins ?? [])],
  })
  const { app } = opened
  const running = app.run('start', {})
  running.catch(() => {})
  const state = async (name: string): Promise<SourceState> => {
    const found = (await app.run('sources list', {})).items.find((source) => source.name === name)
    if (!found) throw new Error(`no source ${name}`)
    return found
  }
  await waitUntil(async () => (await app.run('sources list', {})).items.every((each) => each.state !== 'stopped'))
  return Object.assign(bus, opened, {
    ...{ home, state },
    async stop() {
      drain.abort()
      await running
      await app.close()
    },
  })
}

export const waitForEvents = (app: SourceApp, count: number): Promise<void> =>
  waitUntil(() => app.heard.length >= count)

export const observationsOf = ({ heard }: SourceApp): readonly BusObservation[] =>
  heard.map(({ observation }) => observation)

/** The payloads of events, without the rest. */
export const payloadsOf = (app: SourceApp): readonly Json[] =>
  observationsOf(app).map((observation) =>
    observation.type === 'system_event' ? (observation.payload ?? null) : observation.text,
  )

export interface SentHook {
  readonly delivery?: string
  readonly at?: number
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const signedHeaders = (body: string, { delivery = 'd1', at = Date.now(), secret = SECRET }: SentHook = {}) => {
  const timestamp = String(Math.floor(at / 1000))
  return {
    'content-type': 'application/json',
    'x-tireless-timestamp': timestamp,
    'x-tireless-signature': signBody(secret, timestamp, body),
    'x-tireless-delivery': delivery,
  }
}

/** Posts a signed body, as the documentation describes it. */
export function postHook(
  app: { readonly port: number; readonly app: App },
  name: string,
  message: object | string,
  sent: SentHook = {},
): Promise<HttpResponse> {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const headers = { ...signedHeaders(body, sent), ...sent.headers }
  return sendRequest(app, `/api/v1/hooks/${name}`, { method: 'POST', headers, body })
}
