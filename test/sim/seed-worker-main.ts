/** Entry point of a worker thread: runs chunks of seeds with the real world forbidden. */

import { parentPort } from 'node:worker_threads'
import { forbidRealWorld } from './forbid-real-world.ts'
import { runChunk, type SeedChunk } from './seed-workers.ts'

forbidRealWorld()
parentPort?.on('message', async (chunk: SeedChunk) => parentPort?.postMessage(await runChunk(chunk)))
