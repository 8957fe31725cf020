/** Entry of a farm's thread: one chunk of seeds after the other, with the real world taken away. */

import { parentPort } from 'node:worker_threads'
import { forbidRealWorld } from './forbid-real-world.ts'
import { runChunk, type SeedChunk } from './seed-workers.ts'

forbidRealWorld()
parentPort?.on('message', async (chunk: SeedChunk) => parentPort?.postMessage(await runChunk(chunk)))
