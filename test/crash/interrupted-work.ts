/** A run of three steps for crash tests: the second one dies in the middle of its work, if the process is told to. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../../src/ports/define-tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const STEPS: readonly ((root: string, dies: boolean) => void)[] = [
  (root) => {
    writeFileSync(join(root, 'sure.txt'), 'by the run')
    writeFileSync(join(root, 'twice.txt'), 'first')
  },
  (root, dies) => {
    rmSync(join(root, 'removed.txt'), { force: true })
    writeFileSync(join(root, 'begun.txt'), 'by the run')
    if (dies) process.kill(process.pid, 'SIGKILL')
  },
  (root) => {
    writeFileSync(join(root, 'later.txt'), 'by the run')
    writeFileSync(join(root, 'twice.txt'), `${readFileSync(join(root, 'twice.txt'), 'utf8')}, second`)
  },
]

export const interruptedWork = ({ dies }: { readonly dies: boolean }) => ({
  model: scriptedModel((_, turn) =>
    turn < STEPS.length ? { calls: [{ tool: 'work', args: { step: turn } }] } : { text: 'done' },
  ),
  tools: [
    defineTool({
      name: 'work',
      description: 'works',
      args: z.strictObject({ step: z.number() }),
      effect: () => ({ recovery: 'once', reach: 'workspace' }),
      async run({ step }, { env }) {
        STEPS[step]?.(env.root, dies)
        return { status: 'ok', content: 'worked' }
      },
    }),
  ],
})
