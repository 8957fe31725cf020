/** Kills the processes of a command that a crash interrupted, and describes its output and the files that changed. */

import type { ToolContext } from '../../ports/tool.ts'
import { escapeControls } from './file-path.ts'

export async function describeInterrupted({ ops, call, intendedAt }: ToolContext): Promise<string> {
  const { output, killed } = await ops('process').reap(call)
  const changed = await ops('file').changedSince(intendedAt)
  return [
    killed ? 'The command was still running and was killed.' : 'The command was no longer running.',
    output === '' ? 'It had written no output.' : `Its output so far:\n${output}`,
    changed.length === 0
      ? 'No file in the workspace has changed since it started.'
      : [
          'Paths changed since it started (a folder if entries were added or removed):',
          ...changed.map(escapeControls),
        ].join('\n'),
  ].join('\n')
}
