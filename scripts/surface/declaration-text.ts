// Writes declarations as text: without comments, bodies, initial values and private members.

import {
  type ClassElement,
  type FunctionLikeDeclaration,
  ModifierFlags,
  type Node,
  type NodeArray,
  type ParameterDeclaration,
  SyntaxKind,
  type TypeElement,
  type TypeNode,
} from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isPrivateIdentifier,
  isPropertyDeclaration,
  isPropertyName,
  isSetAccessorDeclaration,
  isTypeLiteralNode,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import { NodeBuilderFlags, type Project, type Type } from "typescript/unstable/sync";

/** One parameter of a function, as it is documented. */
export interface ParameterText {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: string;
}

/** The texts of one project's declarations. */
export interface DeclarationTexts {
  /** As in a declaration file, without `export` and `declare`. */
  declaration(node: Node): string;
  member(node: Node): string;
  parameter(node: ParameterDeclaration): ParameterText;
  result(node: FunctionLikeDeclaration): string;
}

export function declarationTexts({ checker, emitter }: Project): DeclarationTexts {
  const print = (node: Node): string => emitter.printNode(node).trim();
  const inferred = (type: Type | undefined, node: Node): string =>
    type === undefined ? "unknown" : checker.typeToString(type, node, NodeBuilderFlags.NoTruncation);
  const typeOf = (written: TypeNode | undefined, node: Node): string =>
    written === undefined ? inferred(checker.getTypeAtLocation(node), node) : print(written);

  function result(node: FunctionLikeDeclaration): string {
    if (node.type !== undefined) return print(node.type);
    const signature = checker.getSignatureFromDeclaration(node);
    return inferred(signature && checker.getReturnTypeOfSignature(signature), node);
  }

  function parameter(node: ParameterDeclaration): ParameterText {
    const name = isIdentifier(node.name) ? node.name.text : "options";
    return {
      name: node.dotDotDotToken === undefined ? name : `...${name}`,
      isOptional: node.questionToken !== undefined || node.initializer !== undefined,
      type: typeOf(node.type, node),
    };
  }

  function generics(node: { readonly typeParameters?: NodeArray<Node> }): string {
    return node.typeParameters === undefined ? "" : `<${node.typeParameters.map(print).join(", ")}>`;
  }

  function call(node: FunctionLikeDeclaration): string {
    const list = node.parameters.map(parameter);
    const texts = list.map(({ name, isOptional, type }) => `${name}${isOptional ? "?" : ""}: ${type}`);
    return `${generics(node)}(${texts.join(", ")})`;
  }

  function member(node: Node): string {
    const before = modifiers(node);
    const name = nameOf(node);
    if (isConstructorDeclaration(node)) return `${before}${name}${call(node)};`;
    if (isGetAccessorDeclaration(node)) return `${before}get ${name}(): ${result(node)};`;
    if (isSetAccessorDeclaration(node)) return `${before}set ${name}${call(node)};`;
    if (isMethodDeclaration(node)) return `${before}${name}${mark(node)}${call(node)}: ${result(node)};`;
    if (isPropertyDeclaration(node)) return `${before}${name}${mark(node)}: ${typeOf(node.type, node)};`;
    return print(node);
  }

  function declaration(node: Node): string {
    if (isFunctionDeclaration(node)) return `function ${nameOf(node)}${call(node)}: ${result(node)};`;
    if (isVariableDeclaration(node)) return `const ${nameOf(node)}: ${typeOf(node.type, node)};`;
    if (!isClassDeclaration(node)) return print(node).replace(/^(?:export |declare )+/, "");
    const heritage = node.heritageClauses?.map((clause) => ` ${print(clause)}`).join("") ?? "";
    const members = membersOf(node).map((each) => `  ${member(each)}\n`);
    return `class ${nameOf(node)}${generics(node)}${heritage} {\n${members.join("")}}`;
  }

  return { declaration, member, parameter, result };
}

/** The name of a declaration or member: `agent`, `[Symbol.asyncDispose]`; empty when it has none. */
export function nameOf(node: Node): string {
  if (isConstructorDeclaration(node)) return "constructor";
  const named: Node & { readonly name?: Node } = node;
  return named.name !== undefined && isPropertyName(named.name) ? named.name.getText() : "";
}

/** What users see of an interface, a class or a literal type. */
export function membersOf(node: Node): readonly (ClassElement | TypeElement)[] {
  if (isInterfaceDeclaration(node) || isTypeLiteralNode(node)) return node.members;
  if (!isClassDeclaration(node)) return [];
  const overloaded = new Set(
    node.members.filter((each) => isMethodDeclaration(each) && each.body === undefined).map(nameOf),
  );
  return node.members.filter((each) => {
    if (isPrivate(each) || each.kind === SyntaxKind.ClassStaticBlockDeclaration) return false;
    const isImplementation = isMethodDeclaration(each) && each.body !== undefined;
    return !(isImplementation && overloaded.has(nameOf(each)));
  });
}

function isPrivate(node: Node): boolean {
  const named: Node & { readonly name?: Node } = node;
  return (named.name !== undefined && isPrivateIdentifier(named.name)) || has(node, ModifierFlags.Private);
}

function has(node: Node, flag: ModifierFlags): boolean {
  const modified: Node & { readonly modifierFlags?: ModifierFlags } = node;
  return ((modified.modifierFlags ?? 0) & flag) !== 0;
}

function modifiers(node: Node): string {
  const words = [
    has(node, ModifierFlags.Protected) && "protected",
    has(node, ModifierFlags.Abstract) && "abstract",
    has(node, ModifierFlags.Static) && "static",
    has(node, ModifierFlags.Readonly) && "readonly",
  ];
  return words.map((word) => (word ? `${word} ` : "")).join("");
}

function mark(node: { readonly postfixToken?: Node }): string {
  return node.postfixToken?.kind === SyntaxKind.QuestionToken ? "?" : "";
}
