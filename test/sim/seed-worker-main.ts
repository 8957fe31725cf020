/** Entry of a farm's thread: one chunk of seeds after the other, with the real world taken away. */

import { parentPort } from 'node:worker_threads'
import { poison } from './forbid-real-world.ts'
import { type Chunk, runChunk } from './seed-workers.ts'

poison()
parentPort?.on('message', async (chunk: Chunk) => parentPort?.postMessage(await runChunk(chunk)))
