/** The built-in tools. */

import type { AnyTool } from '../../ports/tool.ts'
import { bash } from './bash.ts'
import { createFile } from './create-file.ts'
import { editFile } from './edit-file.ts'
import { finish } from './finish.ts'
import { listFiles } from './list-files.ts'
import { viewFile } from './view-file.ts'
import { wait } from './wait.ts'

export function builtinTools(): AnyTool[] {
  return [viewFile, createFile, editFile, listFiles, bash, wait, finish]
}
