/** The completion script for bash (3.2 or newer: no associative arrays). */

import { choiceCases, flagsWithValue, quoted, type Verb } from './grammar.ts'

export function bashScript(verbs: readonly Verb[]): string {
  const paths = verbs.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `_tireless() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} verbs='' found='' skip='' i word
  # bash treats the = of --flag=value as a word of its own.
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${flagsWithValue(verbs).join('|')}) skip=1 ;;
      -*) ;;
      *) case "\${verbs:+$verbs }$word" in
        ${paths.join('|')}) verbs="\${verbs:+$verbs }$word" ;;
      esac ;;
    esac
  done
  case "$verbs $prev" in
${choiceCases(verbs, (patterns, choices) => `${patterns}) found=${quoted(choices.join(' '))} ;;`)}
  esac
  if [[ -z $found ]]; then
    # No words: bash completes file names.
    case $prev in ${flagsWithValue(verbs).join('|')}) return ;; esac
    case "$verbs" in
${verbs.map(wordCase).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$found" -- "$cur"))
}
complete -o default -F _tireless tireless
`
}

function wordCase({ path, verbs, options, values }: Verb): string {
  const names = [...verbs.map(({ name }) => name), ...values].join(' ')
  const flags = options.flatMap((option) => option.flags).join(' ')
  return `      ${quoted(path)}) if [[ $cur == -* ]]; then found=${quoted(flags)}; else found=${quoted(names)}; fi ;;`
}
