/** Shows what was undone, or what would be. */

import { describeUndo } from '../../commands/lib/describe-undo.ts'
import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeLookalikes } from '../terminal.ts'
import { terminalLanguage } from './language.ts'

export const renderUndo = (undo: CommandOutput<'undo'>): string =>
  escapeLookalikes(describeUndo(undo, terminalLanguage()))
