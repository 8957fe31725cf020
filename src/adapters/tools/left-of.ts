/** What is left of a command that a crash interrupted: killed where it still ran, then told. */

import type { ToolContext } from '../../ports/tool.ts'
import { shown } from './file-path.ts'

export async function leftOf({ ops, call, intendedAt }: ToolContext): Promise<string> {
  const { output, killed } = await ops('process').reap(call)
  const changed = await ops('file').changedSince(intendedAt)
  return [
    killed ? 'It was still running and was killed.' : 'Nothing of it was running any more.',
    output === '' ? 'It had written no output.' : `Its output so far:\n${output}`,
    changed.length === 0
      ? 'No path of the workspace has changed since it was started.'
      : `Paths changed since it was started (a folder when names in it came or went):\n${changed.map(shown).join('\n')}`,
  ].join('\n')
}
