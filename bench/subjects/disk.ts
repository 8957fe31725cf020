/** The limit of the disk: writes and syncs one block at a time. */

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '../meter.ts'

const BLOCK = Buffer.alloc(4096, 'x')

await serve(async ({ folder, steps, step, measure }) => {
  const file = openSync(join(folder, 'blocks.db'), 'w')
  await measure(async () => {
    for (let n = 0; n < steps; n++) {
      step()
      writeSync(file, BLOCK, 0, BLOCK.length, n * BLOCK.length)
      fdatasyncSync(file)
    }
  })
  closeSync(file)
})
