#!/bin/sh
# The successor of an obsolete OBO term becomes a text in OWL, and that of a merged term an address.
#
# Version:  OWL API 5.1.20 (libowlapi-java 5.1.20-1 of Debian 12), with a JDK
# Input:    a term with alt_id, and an obsolete term with replaced_by
# Expected: "term replaced by" (IAO:0100001) with the address of the successor for both
# Observed: the address for the alt_id, and the text "EX:1" for the obsolete term, which no query for addresses meets
# Source:   https://owlcollab.github.io/oboformat/doc/obo-syntax.html, section 5.2: the value of replaced_by is an identifier of a term
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
apt-get -q=2 download libowlapi-java=5.1.20-1 libatinject-jsr330-api-java libcaffeine-java libcommons-codec-java \
    libcommons-io-java libcommons-logging-java libcommons-rdf-java libguava-java libhppcrt-java libjackson2-annotations-java \
    libjackson2-core-java libjackson2-databind-java libjsr305-java librdf4j-java libslf4j-java libxz-java libcommons-lang3-java
for package in *.deb; do dpkg -x "$package" root; done
# one bridge between the libraries for logs is enough
jars=$(find root/usr/share/java -name '*.jar' | grep -v 'slf4j-jcl\|slf4j-log4j\|slf4j-jdk14\|slf4j-simple\|-over-slf4j\|jul-to\|osgidistribution' | tr '\n' ':')
cat > terms.obo <<'END'
format-version: 1.2
ontology: ex

[Term]
id: EX:1
name: fever
alt_id: EX:2

[Term]
id: EX:3
name: obsolete pyrexia
is_obsolete: true
replaced_by: EX:1
END
cat > Successors.java <<'END'
import java.io.File;
import org.semanticweb.owlapi.apibinding.OWLManager;
import org.semanticweb.owlapi.formats.OBODocumentFormat;
import org.semanticweb.owlapi.io.FileDocumentSource;
import org.semanticweb.owlapi.model.OWLOntology;

public class Successors {
    public static void main(String[] arguments) throws Exception {
        FileDocumentSource source = new FileDocumentSource(new File("terms.obo"), new OBODocumentFormat());
        OWLOntology ontology = OWLManager.createOWLOntologyManager().loadOntologyFromOntologyDocument(source);
        ontology.axioms().map(Object::toString).filter(text -> text.startsWith("AnnotationAssertion(<http://purl.obolibrary.org/obo/IAO_0100001>"))
            .sorted().forEach(System.out::println);
    }
}
END
javac -cp "$jars" Successors.java
java -cp "$jars:." Successors 2> messages > successors
cat successors
grep -q 'obo/EX_2> <http://purl.obolibrary.org/obo/EX_1>)' successors
grep -q 'obo/EX_3> "EX:1"^^xsd:string)' successors
