/** Viewers of the event stream in one process. Each leaves every few seconds and continues where it left off. */

import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { Watched, Watching, WatchOrder } from './protocol.ts'

const { url, token, viewers, stayMs } = JSON.parse(process.argv[2] ?? '') as WatchOrder

/** A viewer is away for at most so long; different for each, so that they do not move together. */
const AWAY_MS = 600
const [MESSAGE_END, ID_FIELD] = [Buffer.from('\n\n'), Buffer.from('id: ')]
const ID_LINE = Buffer.from('\nid: ')
const LONGEST_ID = 100

const over = new AbortController()
/** Contract: ends early when the measurement is over. */
const wait = (ms: number): Promise<unknown> => pause(ms, undefined, { signal: over.signal }).catch(() => undefined)
const total = { events: 0, bytes: 0, resumes: 0, missing: 0, repeated: 0, resets: 0 }

/**
 * Finds the messages in the stream without parsing their data, which would cost more than sending them. Viewers share
 * the machine with the kernel here, but not in use, so all but the `thorough` ones only count the messages of a piece.
 */
class Viewer {
  /** The number of the last event; undefined: none yet. */
  last: number | undefined
  lastId = ''
  readonly #isThorough: boolean
  #rest: Buffer = Buffer.alloc(0)

  constructor(isThorough: boolean) {
    this.#isThorough = isThorough
  }

  take(chunk: Buffer): void {
    total.bytes += chunk.length
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = data.lastIndexOf(MESSAGE_END)
    const complete = data.subarray(0, end < 0 ? 0 : end + MESSAGE_END.length)
    this.#rest = data.subarray(complete.length)
    if (this.#isThorough || !this.#takeInOrder(complete))
      for (const block of complete.toString('latin1').split('\n\n')) this.#count(block)
  }

  startAnew(): void {
    this.#rest = Buffer.alloc(0)
  }

  /** Contract: false, and nothing is counted, unless the messages go on after the last one without a gap. */
  #takeInOrder(messages: Buffer): boolean {
    if (messages.indexOf(ID_FIELD) !== 0 || this.last === undefined) return false
    let [count, lastAt] = [1, 0]
    for (let at = messages.indexOf(ID_LINE); at > 0; at = messages.indexOf(ID_LINE, at + ID_LINE.length)) {
      count += 1
      lastAt = at + 1
    }
    const first = idAt(messages, 0)
    const last = idAt(messages, lastAt)
    if (first.seq !== this.last + 1 || last.seq !== this.last + count) return false
    total.events += count
    this.last = last.seq
    this.lastId = last.id
    return true
  }

  #count(block: string): void {
    const [, id, number, name] = /(?:^|\n)id: (\S+\.(\d+))\nevent: (\w+)\n/.exec(block) ?? []
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
    total.events += 1
    total.missing += Math.max(0, seq - expected)
    total.repeated += seq < expected ? 1 : 0
  }
}

function idAt(messages: Buffer, at: number): { readonly id: string; readonly seq: number } {
  const [id = ''] = messages.toString('latin1', at + ID_FIELD.length, at + LONGEST_ID).split('\n')
  return { id, seq: Number(id.slice(id.lastIndexOf('.') + 1)) }
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
      const texts = response.on('error', () => {}).pipe(createGunzip())
      texts.on('data', (chunk: Buffer) => viewer.take(chunk)).on('error', () => {})
      const leave = (): void => {
        texts.destroy()
        response.destroy()
      }
      texts.once('data', () => resolve(leave))
    }).on('error', reject)
  })
}

async function watch(n: number): Promise<void> {
  const viewer = new Viewer(n === 0)
  let leave = await connect(viewer)
  connected += 1
  if (connected === viewers) reportConnected()
  for (let round = 0; !over.signal.aborted; round += 1) {
    await wait(stayMs * part(n, round, 1) + 100)
    if (over.signal.aborted) break
    leave()
    await wait(AWAY_MS * part(n, round, 2))
    leave = await connect(viewer)
    total.resumes += 1
  }
  leave()
}

/** Contract: a number between 0 and 1, always the same for the same arguments. */
const part = (...seeds: readonly number[]): number => {
  const mixed = seeds.reduce((sum, seed) => (sum * 31 + seed * 7919 + 17) % 10_007, 1)
  return mixed / 10_007
}

function reportConnected(): void {
  Object.assign(total, { events: 0, bytes: 0 })
  began = performance.now()
  process.send?.({ kind: 'watching' } satisfies Watching)
}

let connected = 0
let began = 0
const watching = Array.from({ length: viewers }, (_, n) => watch(n))
process.once('message', async () => {
  over.abort()
  const seconds = (performance.now() - began) / 1000
  const eventsPerSecond = total.events / viewers / seconds
  await Promise.all(watching)
  process.send?.({ kind: 'watched', ...total, eventsPerSecond } satisfies Watched)
  process.disconnect?.()
})
await Promise.all(watching)
