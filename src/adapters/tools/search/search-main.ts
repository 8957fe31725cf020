/** Entry of the search thread. Receives the pattern as worker data, then texts as messages. */

import { parentPort, workerData } from 'node:worker_threads'
import type { SearchPattern } from './matcher.ts'
import { findLines } from './matching-lines.ts'

const { pattern, flags } = workerData as SearchPattern
const expression = new RegExp(pattern, flags)
parentPort?.on('message', ({ text, most }: { readonly text: string; readonly most: number }) => {
  parentPort?.postMessage(findLines((line) => expression.test(line), text, most))
})
