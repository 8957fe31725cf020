// Loaded by `--import`: takes a guard out of the program.

import { replaceCode } from '../replace-code.mjs'

replaceCode([Object.fromEntries(new URL(import.meta.url).searchParams)])
