/**
 * Viewers of the event stream in one process. Each leaves every few seconds and continues where it left off. They share
 * the machine with the kernel here, but not in use: so they read what they have received only when they are told to,
 * or when they leave.
 */

import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { constants, createGunzip } from 'node:zlib'
import type { HaveRead, Watched, Watching, WatchOrder, WatchRequest } from './protocol.ts'

const { url, token, viewers, stayMs } = JSON.parse(process.argv[2] ?? '') as WatchOrder

/** A viewer is away for at most so long; different for each, so that they do not move together. */
const AWAY_MS = 600

/** Contract: ends early when all leave. */
const wait = (ms: number, all: AbortSignal): Promise<unknown> =>
  pause(ms, undefined, { signal: all }).catch(() => undefined)
let events = 0
const total = { bytes: 0, resumes: 0, missing: 0, repeated: 0, resets: 0 }

/** Finds the messages in the stream without parsing their data. */
class Viewer {
  /** The number of the last event; undefined: none yet. */
  last: number | undefined
  lastId = ''
  #received: Buffer[] = []
  #texts = createGunzip()
  /** The beginning of a message. */
  #rest = ''

  receive(chunk: Buffer): void {
    this.#received.push(chunk)
  }

  /** Contract: resolves when everything that was received is counted. */
  async read(): Promise<void> {
    for (const chunk of this.#received.splice(0)) this.#texts.write(chunk)
    await new Promise<void>((resolve) => this.#texts.flush(constants.Z_SYNC_FLUSH, resolve))
  }

  startAnew(): void {
    this.#texts.destroy()
    this.#rest = ''
    this.#texts = createGunzip().on('data', (chunk: Buffer) => this.#take(chunk))
  }

  #take(chunk: Buffer): void {
    total.bytes += chunk.length
    const messages = `${this.#rest}${chunk.toString('latin1')}`.split('\n\n')
    this.#rest = messages.pop() ?? ''
    for (const message of messages) this.#count(message)
  }

  #count(message: string): void {
    const [, id, number, name] = /(?:^|\n)id: (\S+\.(\d+))\nevent: (\w+)\n/.exec(message) ?? []
    if (id === undefined) return
    const seq = Number(number)
    this.lastId = id
    if (name === 'hello') {
      // The stream goes on after this number: that of the last event, unless `reset` follows.
      this.last ??= seq
      return
    }
    const expected = (this.last ?? seq) + 1
    this.last = seq
    if (name === 'reset') {
      total.resets += 1
      return
    }
    events += 1
    total.missing += Math.max(0, seq - expected)
    total.repeated += seq < expected ? 1 : 0
  }
}

/** Contract: resolves with a function that leaves, when the first data has arrived. */
function connect(viewer: Viewer): Promise<() => void> {
  viewer.startAnew()
  const resume: Record<string, string> = viewer.lastId === '' ? {} : { 'Last-Event-ID': viewer.lastId }
  return new Promise((resolve, reject) => {
    // As browsers do.
    const headers = { Authorization: `Bearer ${token}`, 'Accept-Encoding': 'gzip', ...resume }
    get(`${url}/api/v1/events`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the stream answered with ${response.statusCode}`))
      response.on('data', (chunk: Buffer) => viewer.receive(chunk)).on('error', () => {})
      response.once('data', () => resolve(() => response.destroy()))
    }).on('error', reject)
  })
}

/** Contract: joins at once, and resolves with its end, when all leave; until then it leaves and continues. */
async function join(viewer: Viewer, n: number, all: AbortSignal): Promise<{ readonly left: Promise<void> }> {
  const leave = await connect(viewer)
  return { left: watch(viewer, n, leave, all) }
}

async function watch(viewer: Viewer, n: number, firstLeave: () => void, all: AbortSignal): Promise<void> {
  let leave = firstLeave
  for (;;) {
    round += 1
    await wait(stayMs * part(n, round) + 100, all)
    leave()
    await viewer.read()
    if (all.aborted) return
    await wait(AWAY_MS * part(n, round, 2), all)
    if (all.aborted) return
    leave = await connect(viewer)
    total.resumes += 1
  }
}

/** How often a viewer has stayed. */
let round = 0

/** Contract: a number between 0 and 1, always the same for the same arguments. */
const part = (...seeds: readonly number[]): number => {
  const mixed = seeds.reduce((sum, seed) => (sum * 31 + seed * 7919 + 17) % 10_007, 1)
  return mixed / 10_007
}

let present: readonly Viewer[] = []
let leaving = new AbortController()
let watching: readonly { readonly left: Promise<void> }[] = []

async function answer({ kind }: WatchRequest): Promise<Watching | HaveRead | Watched> {
  if (kind === 'join') {
    leaving = new AbortController()
    present = Array.from({ length: viewers }, () => new Viewer())
    watching = await Promise.all(present.map((viewer, n) => join(viewer, n, leaving.signal)))
    return { kind: 'watching' }
  }
  if (kind === 'read') {
    const at = performance.now()
    await Promise.all(present.map((viewer) => viewer.read()))
    return { kind: 'have read', events, at }
  }
  leaving.abort()
  await Promise.all(watching.map(({ left }) => left))
  return { kind: 'watched', ...total }
}

process.on('message', async (request: WatchRequest) => {
  process.send?.(await answer(request))
})
process.send?.({ kind: 'ready' })
