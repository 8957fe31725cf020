/** A step of a model that writes a file. */

import type { ScriptedStep } from '../../src/testing/scripted-model.ts'

export const WRITE_STEP: ScriptedStep = {
  text: 'I write it.',
  calls: [{ tool: 'create_file', args: { path: 'a', content: 'x' } }],
}
