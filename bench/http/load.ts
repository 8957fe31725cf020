/**
 * A process that enqueues over HTTP at a fixed rate, without waiting for responses. Prints latencies as a JSON line.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { LoadOrder } from './protocol.ts'

const { url, token, perSecond, seconds } = JSON.parse(process.argv[2] ?? '') as LoadOrder

async function enqueue(n: number): Promise<number> {
  const began = performance.now()
  const answer = await fetch(`${url}/api/v1/enqueue`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ prompt: `Write note ${n} and look at it.` }),
  })
  const body = await answer.text()
  if (!answer.ok) throw new Error(`enqueue returned ${answer.status}: ${body}`)
  return performance.now() - began
}

// Warm-up: the first request includes connecting and compiling.
await enqueue(0)
const began = performance.now()
const latencies: Promise<number>[] = []
for (let n = 1; n <= perSecond * seconds; n++) {
  await pause(Math.max(0, began + (n * 1000) / perSecond - performance.now()))
  latencies.push(enqueue(n))
}
console.log(JSON.stringify(await Promise.all(latencies)))
