// Reads the public API from the sources: what each entry point exports, with texts, comments and the types it mentions.

import { join, relative } from "node:path";
import type { Node } from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isExpressionWithTypeArguments,
  isFunctionDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isSourceFile,
  isTypeLiteralNode,
  isTypeQueryNode,
  isTypeReferenceNode,
} from "typescript/unstable/ast/is";
import { type Project, type Symbol as Sym, SymbolFlags } from "typescript/unstable/sync";
import { type DeclarationTexts, declarationTexts, membersOf, nameOf } from "./declaration-text.ts";
import { docOf } from "./doc-comment.ts";
import type { EntryPoint } from "./entry-points.ts";
import {
  type Declaration,
  type Exported,
  isWire,
  type Kind,
  type Member,
  type PublicApi,
} from "./public-api.ts";

/** Reads the API of these entry points, whose sources are below `root`. */
export function readApi(project: Project, root: string, points: readonly EntryPoint[]): PublicApi {
  const { checker, program } = project;
  const texts = declarationTexts(project);
  const homes = new Map<number, { entry: EntryPoint; name: string }>();
  const known = new Map<number, Declaration>();

  const entries = points.map((entry) => {
    const file = program.getSourceFile(join(root, entry.source));
    const module = file && checker.getSymbolAtLocation(file);
    if (file === undefined || module === undefined) throw new Error(`${entry.source} is no module`);
    const exports = checker.getExportsOfModule(module).map((symbol) => exportedAs(symbol, file));
    for (const { name, symbol } of exports) {
      if (!homes.has(symbol.id)) homes.set(symbol.id, { entry, name });
    }
    return { ...entry, summary: headerOf(file.text), exports: exports.sort(byName) };
  });

  function exportedAs(symbol: Sym, file: Node): Exported {
    let target = symbol;
    let isTypeOnly = false;
    while (target.flags & SymbolFlags.Alias) {
      isTypeOnly ||= isTypeOnlyLink(target.declarations[0]?.resolve(project));
      const next = checker.getImmediateAliasedSymbol(target);
      if (next === undefined) break;
      target = next;
    }
    // `export type * from` leaves no trace in the symbol; `export * from` is forbidden by the linter
    isTypeOnly ||= symbol === target && nodesOf(target)[0]?.getSourceFile() !== file;
    return {
      name: symbol.name,
      symbol: target,
      isValue: !isTypeOnly && (target.flags & SymbolFlags.Value) !== 0,
    };
  }

  function nodesOf(symbol: Sym): Node[] {
    return symbol.declarations.map((handle) => handle.resolve(project)).filter((node) => node !== undefined);
  }

  /** Our own types that are named below a node, without those that it declares itself. */
  function mentionsIn(nodes: readonly Node[]): Sym[] {
    const names: Node[] = [];
    for (const node of nodes) collectNames(node, names);
    const found = new Map<number, Sym>();
    for (const symbol of names.length === 0 ? [] : checker.getSymbolAtLocation(names)) {
      if (symbol === undefined) continue;
      const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const isOurs = target.declarations.some(({ path }) => path.startsWith(`${root}/packages/`));
      if (isOurs && !(target.flags & SymbolFlags.TypeParameter)) found.set(target.id, target);
    }
    return [...found.values()];
  }

  function read(symbol: Sym): Declaration {
    const all = nodesOf(symbol);
    // the implementation of an overloaded function is none of its signatures
    const nodes =
      all.length > 1 ? all.filter((node) => !isFunctionDeclaration(node) || node.body === undefined) : all;
    const [first] = nodes;
    if (first === undefined) throw new Error(`${symbol.name} has no declaration`);
    const file = relative(root, first.getSourceFile().fileName);
    const kind = kindOf(symbol);
    const empty = { text: "", source: "", members: [], signatures: [], mentions: [] };
    // only the names of these are shown, and there are more of them than of all others
    if (isWire({ file })) return { name: symbol.name, kind, file, doc: docOf(first), ...empty };
    return {
      name: symbol.name,
      kind,
      file,
      text: nodes.map(texts.declaration).join("\n"),
      source: nodes.map((node) => node.getText()).join("\n"),
      doc: docOf(first),
      members: nodes.flatMap((node) => readMembers(node, texts, mentionsIn)),
      signatures: nodes.filter(isFunctionDeclaration).map((node) => ({
        parameters: node.parameters.map((each) => ({
          ...texts.parameter(each),
          mentions: mentionsIn([each]),
        })),
        result: { type: texts.result(node), mentions: node.type ? mentionsIn([node.type]) : [] },
      })),
      mentions: mentionsIn(nodes).filter(({ id }) => id !== symbol.id),
    };
  }

  return {
    entries,
    home: (symbol) => homes.get(symbol.id),
    declaration(symbol) {
      const declaration = known.get(symbol.id) ?? read(symbol);
      known.set(symbol.id, declaration);
      return declaration;
    },
  };
}

function readMembers(
  node: Node,
  texts: DeclarationTexts,
  mentionsIn: (nodes: readonly Node[]) => Sym[],
): Member[] {
  return membersOf(node).map((member) => {
    const isProperty = isPropertySignatureDeclaration(member) || isPropertyDeclaration(member);
    const group = isProperty && member.type && isTypeLiteralNode(member.type) ? member.type : undefined;
    return {
      name: nameOf(member) || texts.member(member),
      text: texts.member(member),
      doc: docOf(member),
      mentions: mentionsIn([member]),
      members: group ? readMembers(group, texts, mentionsIn) : [],
    };
  });
}

/** The names of types in a declaration; what users do not see of it is left out. */
function collectNames(node: Node, into: Node[]): void {
  if (isTypeReferenceNode(node)) into.push(node.typeName);
  else if (isTypeQueryNode(node)) into.push(node.exprName);
  else if (isExpressionWithTypeArguments(node)) into.push(node.expression);
  const { body, initializer }: Node & { readonly body?: Node; readonly initializer?: Node } = node;
  const visible = new Set<Node>(membersOf(node));
  const members = new Set<Node>(isClassDeclaration(node) ? node.members : []);
  node.forEachChild((child) => {
    const isHidden = child === body || child === initializer || (members.has(child) && !visible.has(child));
    if (!isHidden) collectNames(child, into);
  });
}

function isTypeOnlyLink(node: Node | undefined): boolean {
  const marked: (Node & { readonly isTypeOnly?: boolean }) | undefined = node;
  if (marked === undefined || isSourceFile(marked)) return false;
  return marked.isTypeOnly === true || isTypeOnlyLink(marked.parent);
}

function kindOf({ flags }: Sym): Kind {
  if (flags & SymbolFlags.Function) return "function";
  if (flags & SymbolFlags.Class) return "class";
  if (flags & SymbolFlags.Variable) return "const";
  return flags & SymbolFlags.Interface ? "interface" : "type";
}

/** The comment at the top of a file, which says in one sentence what it is for. */
function headerOf(text: string): string {
  const [header = ""] = /^(?:\/\/.*\n)*/.exec(text) ?? [];
  return header
    .replaceAll(/^\/\/ ?/gm, "")
    .replaceAll("\n", " ")
    .trim();
}

function byName(a: Exported, b: Exported): number {
  return a.name < b.name ? -1 : 1;
}
