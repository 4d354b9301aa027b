"""The health question: could a fresh agent go on from git and the files of the project alone?"""
